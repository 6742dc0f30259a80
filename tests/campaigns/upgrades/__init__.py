"""What an upgrade of a library changes: ``python -m tests.campaigns.upgrades FOLDER`` proves it and asks."""
