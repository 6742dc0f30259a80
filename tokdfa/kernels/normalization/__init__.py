"""Whether texts are in a normalization form, and bringing them into it: `quick_check`; callers have checked the UTF-8."""
