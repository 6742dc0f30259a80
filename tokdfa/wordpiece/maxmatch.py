"""MaxMatch: longest match first, from left to right. This is the definition and the oracle; it is quadratic."""

from __future__ import annotations

from tokdfa.arguments import wrong_argument
from tokdfa.wordpiece.vocabulary import WordPieceVocabulary

__all__ = ["max_match"]


def max_match(vocabulary: WordPieceVocabulary, word: str) -> list[int]:
    """Tokenize one word by taking the longest match at each place.

    Parameters
    ----------
    vocabulary : WordPieceVocabulary
        The entries, the prefix, the unknown token and the length limit.
    word : str
        A word, which is used unchanged: it is neither normalized nor split.

    Returns
    -------
    list of int
        The ids. If nothing matches at some place or the word is too long, the unknown token alone. No ids for the empty
        word.

    Raises
    ------
    AlphabetError
        If the word has no tokenization and the vocabulary has no unknown token.

    Notes
    -----
    *Fast WordPiece Tokenization*, section 3; BERT's WordpieceTokenizer. The number of candidates is quadratic in the
    length of the word. Every candidate is hashed, so the time counted in symbols is cubic.

    Examples
    --------
    >>> vocabulary = tokdfa.WordPieceVocabulary(["[UNK]", "a", "ab", "##b", "##c"])
    >>> vocabulary.spell(tokdfa.max_match(vocabulary, "abbc"))
    ['ab', '##b', '##c']
    """
    if not isinstance(vocabulary, WordPieceVocabulary):
        raise wrong_argument(
            vocabulary,
            "a vocabulary",
            "tokdfa.max_match(vocabulary, word)",
            swapped=isinstance(word, WordPieceVocabulary),
        )
    if vocabulary.longest_word is not None and len(word) > vocabulary.longest_word:
        return [vocabulary.unknown_word(word)]
    ids = []
    start = 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            piece = word[start:stop]
            number = vocabulary.id((vocabulary.opening if start == 0 else vocabulary.prefix) + piece)
            if number is not None:
                ids.append(number)
                start = stop
                break
        else:
            return [vocabulary.unknown_word(word)]
    return ids
