"""Real tokenizers: what a file says, made into something that encodes, decodes and can be decided about.

Read `protocol` first: what every tokenizer answers. Then `loading` (from a path to a tokenizer; the embedded one),
`formats` (untrusted bytes end there) and the kinds:

- `tokenizer`: byte pair encoding (what changes texts and decodes in steps: `normalizers`, `precompiled`,
  `sentencepiece_normalizer`, `decoding`);
- `unigram`: pieces with scores, of SentencePiece and tokenizers (`unigram_round_trip`: to text and back;
  `unigram_texts` and `unigram_accepted`: which of them normalize and segment in one pass, and are judged word by word;
  `unigram_sentences`: what is segmented of a text; `unigram_batches`: several texts at once);
- `wordpiece`: BERT's.

What they are made of: `numbered` (tokens with their numbers, ids and bytes), `checked_dictionary` (dictionaries and
alphabets that a loader has checked), `spelled` (what an id adds to a text), `decoder` (streams of ids to text),
`round_trip` (to text and back). `boundaries` has the places where texts and ids are cut, whatever follows, so that
streams are judged in parts.

What is known of a tokenizer as a whole: `canonical` (its language of correct streams, as one automaton), `neighbours`
(which tokens may follow each other) and `proper_part` (what pairs of them decide where rules are improper), `whole`
(why streams are judged as a whole), `fingerprint` (the hash of what it does, kept in a `lockfile`), `facts` (its
numbers), `pieces` (where a text is cut before anything is merged, and why). `versioned` says what of a tokenizer is
known for another version of its library. `derived` keeps the tables that are computed from a tokenizer, by whatever
package, with it.

Cost: `load` reads the file and numbers the tokens (0.05 to 0.3 s); automata and tables are made on first use, and a
pickle holds none of them.
"""
