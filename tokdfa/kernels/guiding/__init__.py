"""Loops over the ids that can come next.

`product` has them: the place after an id, whether a stream goes on from there, and the ids that can come next, by the
tables of the pre-tokenizer, of the rows and of a language of texts. It also takes what a row forbids out of a mask, and
has the ids after which a text has nothing that is banned. C checks the numbers of places and ids; all others come from
the tables, whose makers have checked them.
"""
