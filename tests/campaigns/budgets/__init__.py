"""Random walks through the masks of guides for JSON schemas, each with its own number of ids."""
