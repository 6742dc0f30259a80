"""Real tokenizers: what a file says, made into something that encodes, decodes and can be decided about.

Read `protocol` first: what every tokenizer answers. Then `loading` (from a path to a tokenizer), `formats` (untrusted
bytes end there) and the kinds:

- `tokenizer`: byte pair encoding (what changes texts and decodes in steps: `normalizers`, `precompiled`,
  `sentencepiece_normalizer`, `decoding`);
- `unigram`: pieces with scores, of SentencePiece and tokenizers (`unigram_round_trip`: to text and back;
  `unigram_cuts`: where their texts are certainly cut; `unigram_texts` and `unigram_accepted`: which of them normalize
  and segment in one pass, and are judged word by word; `unigram_sentences`: what is segmented of a text;
  `unigram_batches`: several texts at once; `unigram_facts`: its numbers);
- `wordpiece`: BERT's (`wordpiece_facts`: its numbers).

What they are made of: `numbered` (tokens with their numbers, ids and bytes), `byte_dictionary` and `symbol_tokens`
(dictionaries and alphabets that a loader has checked), `spelled` and `spelled_by_steps` (what an id adds to a text),
`decoder` (streams of ids to text), `decoded` (a text, and where its ids end), `round_trip` (to text and back). Where
texts that are rewritten are certainly cut, so that streams are judged in parts: `form_cuts` (normalization forms before
a pattern) and `character_cuts` (dictionaries over characters), with `added_borders` (what added tokens do next to such
a place), `id_texts` (what ids add to a text) and `pair_memory` (what is known of neighbours). `default` has the
embedded tokenizer. `safe_cuts` decides where any text may be cut, and `safe_places` where ids may be; `safely_cut` has
the methods for both.

What is known of a tokenizer as a whole: `canonical` (its language of correct streams, as one automaton),
`pair_automaton` (its rules' automaton, asked by ids), `neighbours` and `proper_part` (what pairs of neighbours decide
where rules are improper), `closed` (whether its texts stay in its alphabet), `whole` (why streams are judged as a
whole), `fingerprint` (the hash of what it does, of `fingerprint_parts` and a `splitting_form`, kept in a `lockfile`),
`made_of` (its parts as they are written), `facts` (its numbers), `pieces` (where a text is cut before anything is
merged, and why). `versioned` says what of a tokenizer is known for another version of its library. `derived` keeps
the tables that are computed from a tokenizer, by whatever package, with it.

Cost: `load` reads the file and numbers the tokens (0.05 to 0.3 s); automata and tables are made on first use, and a
pickle holds none of them.
"""
