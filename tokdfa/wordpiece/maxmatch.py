"""MaxMatch: the longest match first, from left to right. The definition, quadratic, and the oracle."""

from __future__ import annotations

from tokdfa.wordpiece.vocabulary import WordPieceVocabulary

__all__ = ["max_match"]


def max_match(vocabulary: WordPieceVocabulary, word: str) -> list[int]:
    """Tokenize one word by taking the longest match at each place.

    Parameters
    ----------
    vocabulary : WordPieceVocabulary
        The entries, the prefix, the unknown token and the length limit.
    word : str
        A word, as it stands: nothing is normalized and nothing split.

    Returns
    -------
    list of int
        The ids; that of the unknown token alone when at some place nothing matches or the word is too long; none for
        the empty word.

    Raises
    ------
    AlphabetError
        If the word is unknown and the vocabulary has no token for that.

    Notes
    -----
    *Fast WordPiece Tokenization*, section 3; BERT's WordpieceTokenizer. Time is quadratic in the length of the word,
    or cubic counted in symbols, for every candidate is hashed.

    Examples
    --------
    >>> vocabulary = tokdfa.WordPieceVocabulary(["[UNK]", "a", "ab", "##b", "##c"])
    >>> vocabulary.spell(tokdfa.max_match(vocabulary, "abbc"))
    ['ab', '##b', '##c']
    """
    if vocabulary.longest_word is not None and len(word) > vocabulary.longest_word:
        return [vocabulary.unknown_word(word)]
    ids = []
    start = 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            piece = word[start:stop]
            number = vocabulary.id(piece if start == 0 else vocabulary.prefix + piece)
            if number is not None:
                ids.append(number)
                start = stop
                break
        else:
            return [vocabulary.unknown_word(word)]
    return ids
