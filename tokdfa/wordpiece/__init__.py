"""WordPiece tokenization by longest match."""
