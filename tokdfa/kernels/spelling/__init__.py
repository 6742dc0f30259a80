"""Words by number and by spelling.

`spell` writes numbered words one after the other, and reads words of the byte alphabet; `lookup` finds words, and those
that rules need; `model` reads the vocabulary and the rules of a tokenizer.json. Callers of `spell.spell` have checked
the numbers; the others check what they are given.
"""
