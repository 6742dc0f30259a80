"""The effects of upgrading a library: ``python -m tests.campaigns.upgrades FOLDER`` proves them and asks."""
