"""What an upgrade of a library changes: ``python -m tests.upgrades FOLDER`` proves it and asks both versions."""
