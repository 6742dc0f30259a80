"""The seams of published chat templates, and injection: ``python -m tests.chat_templates FOLDER`` writes the table."""
