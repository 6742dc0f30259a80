"""Spelling numbered words one after the other, by `spell`, and finding the words of rules by their spelling: `lookup`.

Callers of `spell` have checked the numbers; `lookup` checks what it is given.
"""
