"""The graph of the canonical streams of a tokenizer, with its texts in a language: one graph for each model."""

from __future__ import annotations

from tokdfa.automata.lift import language as language_of
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.guiding.byte_machines import ByteMachine, machine_of
from tokdfa.jobs.measures.byte_streams import ByteStreams
from tokdfa.jobs.measures.character_streams import character_streams
from tokdfa.jobs.measures.streams import Streams
from tokdfa.jobs.measures.wordpiece_streams import wordpiece_streams
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer, has_rules


def streams_of(tokenizer: AnyTokenizer, language: str | None = None) -> Streams:
    """Return the graph of the canonical streams of a tokenizer, with their texts in a language if one is given.

    The tokenizer keeps the graph of all texts. UnsupportedFeatureError is raised for Unigram and longest matches.
    """
    if isinstance(tokenizer, WordPieceTokenizer):
        if language is None:
            return tokenizer.derived(wordpiece_streams)
        return wordpiece_streams(tokenizer, _texts(language))
    if not has_rules(tokenizer):
        what = f"the ids that may follow an id are not known of {tokenizer.algorithm}, which segments a text as a whole"
        raise UnsupportedFeatureError(what)
    if tokenizer.why_not("bytes") is None:
        return tokenizer.derived(ByteStreams) if language is None else ByteStreams(tokenizer, language)
    return tokenizer.derived(character_streams) if language is None else character_streams(tokenizer, _texts(language))


def exact_streams_of(tokenizer: AnyTokenizer) -> Streams:
    """Return a larger graph, with fewer paths that are not canonical streams, if there is one."""
    if isinstance(tokenizer, WordPieceTokenizer):
        return wordpiece_streams(tokenizer, is_exact=True)
    return streams_of(tokenizer)


def _texts(language: str) -> ByteMachine:
    return machine_of(language_of(language, bytes(range(256))))
