"""Training dictionaries, and the theory of what training optimises."""
