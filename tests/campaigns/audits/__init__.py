"""Shortcuts of engines, audited for real tokenizers: ``python -m tests.campaigns.audits`` writes the table."""
