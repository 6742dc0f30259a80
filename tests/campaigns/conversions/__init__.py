"""llama.cpp's substitutes for patterns, proven and asked: ``python -m tests.campaigns.conversions``."""
