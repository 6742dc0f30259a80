"""Hooks for other projects, thin: each takes the project's own records and gives a check or numbers to log.

- `rollouts`: samples of TRL, verl, OpenRLHF, slime, miles, SkyRL, verifiers, prime-rl and vLLM, by a table of their
  records; for TRL, a reward function for GRPO and RLOO that only measures.
- `conversations`: the ids and masks of a conversation that grows, as verl, TRL, slime and vLLM take them.
- `guided`: guides for engines that choose ids: `generate` of transformers, masks of another engine; `guided_vllm`, a
  logits processor of vLLM; `guided_sglang`, a grammar backend of SGLang, and `guided_outlines`, one of outlines;
  `guide_requests` reads the parameters of a request for a guide.
- `ray`: shards of a corpus checked by a cluster, and callable classes for its datasets; `ray_tasks` has the tasks, and
  a process for the calls that Ray would end.
- `datatrove`: a step that checks shards, and a filter of documents; `nemo_curator`: a stage for batches of documents.
- `metrics`: the numbers that all of them log, and tokenizers given as live objects or paths, built once by each process
  of a cluster.

A project is imported only within a function, or by the module of its own steps; most hooks need no import at all: they
read attributes and items.

Used by: training scripts, the command `validate` with ``--ray``.

Cost: the same as `tokdfa.check_rollouts`; converting lists of ids takes more time than checking them.
"""
