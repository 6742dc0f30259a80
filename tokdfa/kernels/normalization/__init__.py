"""Texts in a normalization form, and bringing them into it: `quick_check`; its callers have checked the UTF-8."""
