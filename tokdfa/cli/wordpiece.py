"""What the commands say about WordPiece vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.output import print_table

if TYPE_CHECKING:
    from tokdfa.draw.graph import Graph
    from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

__all__ = ["describe", "load_wordpiece", "locality", "print_fields", "refuse_options", "trie"]

_EXAMPLES = 5


def load_wordpiece(tok: str, format_name: str | None) -> WordPieceTokenizer | None:
    """Load TOK if it is a WordPiece tokenizer; None if it is not."""
    from tokdfa.tokenizers.formats import is_wordpiece
    from tokdfa.tokenizers.loading import load
    from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

    if not is_wordpiece(tok, format_name):
        return None
    tokenizer = load(tok, format=format_name)
    assert isinstance(tokenizer, WordPieceTokenizer)
    return tokenizer


def refuse_options(**options: object) -> None:
    """Refuse options that were given and mean nothing for a vocabulary without rules."""
    for name, value in options.items():
        if value not in (None, False):
            raise click.BadParameter("TOK is a WordPiece vocabulary, which has no rules", param_hint=f"--{name}")


def print_fields(fields: Mapping[str, Any]) -> None:
    """Print names and values in two columns."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in fields.items():
        if isinstance(value, Mapping):
            text = ", ".join(f"{key} {inner}" for key, inner in value.items())
        elif isinstance(value, (list, tuple)):
            text = ", ".join(" ".join(map(str, item.values())) if isinstance(item, dict) else item for item in value)
        else:
            text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
        table.add_row(name.replace("_", " "), Text(text))
    print_table(table)


def describe(tokenizer: WordPieceTokenizer) -> dict[str, Any]:
    """Return what `tokdfa info` says."""
    from dataclasses import asdict

    from tokdfa.errors import AutomatonError

    vocabulary = tokenizer.vocabulary
    fields = {
        "format": tokenizer.format,
        "ids": tokenizer.n_ids,
        "tokens": tokenizer.n_tokens,
        "semantics": tokenizer.semantics,
        "pretokenizer": tokenizer.pretokenizer,
        "normalizer": asdict(tokenizer.normalizer),
        "prefix": vocabulary.prefix,
        "unknown": vocabulary.unknown if vocabulary.unknown_id is not None else None,
        "longest_word": vocabulary.longest_word,
        "trie_nodes": len(tokenizer.trie),
        "lost_ids": len(vocabulary.duplicates),
        "specials": len(tokenizer.specials),
        "ignored": tokenizer.ignored,
        "fingerprint": tokenizer.fingerprint,
    }
    try:
        language = tokenizer.language
    except AutomatonError as error:
        return {**fields, "no_automaton": str(error)}
    dead = sorted(language.dead)
    examples = [{"id": number, "token": tokenizer.spelling(number)} for number in dead[:_EXAMPLES]]
    return {
        **fields,
        "dead_tokens": len(dead),
        "dead_token_examples": examples,
        "states": len(language.words.states),
        "local_from": language.words.local_from,
    }


def locality(tokenizer: WordPieceTokenizer) -> dict[str, Any]:
    """Return what `tokdfa locality` says: from which k on the last k tokens of a word determine the state."""
    words = tokenizer.language.words
    least = words.local_from
    below = words.is_k_local(least - 1) if least else None
    return {
        "states": len(words.states),
        "local_from": least,
        "witness": None if below is None or below.witness is None else words.vocabulary.spell(below.witness.ids),
        "reason": "" if below is None else below.reason,
    }


def trie(tokenizer: WordPieceTokenizer, words: tuple[str, ...], max_nodes: int) -> Graph:
    """Return the picture of the trie, or of what is met on `words`."""
    from tokdfa.draw.trie import trie_graph

    return trie_graph(tokenizer.vocabulary, words=words or None, max_nodes=max_nodes)
