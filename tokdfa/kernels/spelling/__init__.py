"""Words by number and by spelling.

`spell` writes numbered words one after the other, and reads words of the byte alphabet; `lookup` finds words, and the
words of rules, and sorts words. `model` reads the vocabulary and the rules of a tokenizer.json, the pieces of a
SentencePiece model and lines of ranks, `charsmap` the words of its character table. Callers of `spell.spell` have
checked the numbers; the others check their arguments.
"""
