"""Pictures of automata."""
