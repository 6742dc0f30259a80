"""How streams are judged: by pieces, as a whole, or by the definition."""
