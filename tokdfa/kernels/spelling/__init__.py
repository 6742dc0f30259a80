"""Spelling numbered words one after the other; callers have checked the numbers."""
