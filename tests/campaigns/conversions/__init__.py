"""What llama.cpp puts in place of patterns: ``python -m tests.campaigns.conversions`` proves it and asks."""
