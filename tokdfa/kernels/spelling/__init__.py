"""Spelling numbered words one after the other, by `spell`; callers have checked the numbers."""
