"""What llama.cpp puts in place of patterns: ``python -m tests.conversions`` proves it and asks both libraries."""
