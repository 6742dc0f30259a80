"""Loops over the ids that can come next.

`product` has them: the state after an id, whether a stream can continue from there, and the ids that can come next, by
the tables of the pre-tokenizer, of the rows and of a language of texts. It also takes the ids that a row forbids out of
a mask, and finds the ids after which a text has nothing banned. C checks the states and ids that it is given; all other
numbers come from the tables, which were checked when they were made.
"""
