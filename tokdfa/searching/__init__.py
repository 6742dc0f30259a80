"""How streams of ids are searched: what tokens do to an automaton, and the search under way."""
