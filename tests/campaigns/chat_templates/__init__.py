"""Seams and injection of published chat templates: ``python -m tests.campaigns.chat_templates FOLDER`` writes them."""
