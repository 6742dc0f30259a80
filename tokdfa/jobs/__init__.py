"""What tokdfa does with tokenizers and their ids: a package for each job.

- `validation`: whether a stream is canonical, and if not, where, why, and which ids belong there;
- `searching`: patterns over the text of ids; `replacing`: what matches, replaced in the ids;
- `guiding`: which ids can come next;
- `comparison`: whether two tokenizers agree on every text; `certificates`: proofs that `tokdfa.check` verifies alone;
  `conversion`: a tokenizer as a file of another format, kept if it agrees;
- `splices`: whether two texts can be encoded separately, and whether a text can forge a control id;
  `templates`: both for the templates of chats;
- `alignment`: two streams of ids of one text, cut where both have a boundary;
- `measures`: numbers that hold for every text, whether counts of bytes add up, and how many tokens a text can have;
- `auditing`: whether the shortcuts by which engines encode a growing text are right;
- `examination`: whether the files of a model's folder agree;
- `rollouts`: what of a rollout is a bug, what is drift, and what a junction;
- `shards`: corpora of many files, whose reports add up; `identification`: which tokenizer made them.

Each package has a module `api` (or is named in `tokdfa`): the public functions, where reading begins.
"""
