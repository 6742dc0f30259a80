"""Token ids from files, in chunks."""
