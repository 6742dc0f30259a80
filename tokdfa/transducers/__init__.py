"""String-to-token transducers."""
