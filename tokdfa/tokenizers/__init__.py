"""Real tokenizers: a file made into an object that encodes, decodes and can be decided about.

Read `protocol` first, the interface of every tokenizer; `jobs` has the methods that packages above this one carry out.
Then `tokenizer`: one class of five parts, named as Hugging Face names them:

- added tokens (`encoding.added_tokens`), found in a text before anything else, or in the normalized text;
- a normalizer (`normalizers`);
- a pre-tokenizer (`pretokenizers`), as a finite machine;
- a model (`models`): byte pairs, Unigram or WordPiece;
- a decoder (`decoder`, and `whole_decoder` where more than one id decides; its steps are in `decoding` and
  `word_decoding`; `spelled` has the bytes that an id adds to a text; `text_states` and `step_states` read ids one by
  one, for `stream_decoder`: its `stream_rows` are the product with the automaton of `stop_strings`).

`encoding` leads from text to ids: which engine when, streams, batches. `loading` leads from a path to a tokenizer, and
has the embedded one; untrusted bytes end in `formats`. `round_trip` decodes ids and encodes their text again.
`boundaries` has the positions where texts and ids are always cut, so that streams are judged in parts. `twins` are
tokenizers that find other special tokens in texts, or none.

About a tokenizer as a whole: `neighbours` (which tokens may follow each other, and which part of improper rules is
proper; `spines` has the tokens that the other part forbids), `fingerprint` (the hash of its behaviour, and its lock
file), `facts` (its numbers), `pieces` (where a text is cut before anything is merged, and why). `derived` keeps the
tables that are computed from a tokenizer, by any package, with it.

Cost: `load` reads the file and numbers the tokens (0.05 to 0.3 s); automata and tables are made on first use, and a
pickle holds none of them.
"""
