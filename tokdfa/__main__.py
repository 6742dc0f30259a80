"""``python -m tokdfa``: the command line."""

from tokdfa.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
