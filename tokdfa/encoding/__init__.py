"""From text to ids: special tokens, pieces, and the engines that encode them, whole, in streams and in batches."""
