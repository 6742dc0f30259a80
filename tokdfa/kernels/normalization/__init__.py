"""Whether texts are in a normalization form, by `quick_check`; callers have checked that texts are UTF-8."""
