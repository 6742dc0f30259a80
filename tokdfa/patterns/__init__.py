"""Regular expressions and lists of words, as automata over classes of code points and over UTF-8."""
