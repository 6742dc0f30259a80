"""Check rollouts of reinforcement learning: find the parts that are not canonical, and whether the model wrote them.

Trainers keep the ids that the model sampled, so a correct rollout is not canonical inside the sampled spans. A
non-canonical part outside of them is a bug; inside it is drift, which decoding and encoding again would change; across
an edge it is a junction. Read in this order:

1. `api`: `check_rollout`, `check_rollouts` and the lazy `iter_rollout_checks`; `frameworks` has their input, with the
   mask of sampled ids, and `result` holds the answers and sums them up in a line.
2. `spans`: the exact definitions of a span, a bug, drift and a junction, and why a span is not canonical. `seams`:
   spans counted by the roles that meet there, and by their ids.
3. `finding`: many rollouts by one walk, or word by word, and by the definition where neither decides.
4. `prefix`: `check_prefix`, which explains why ids do not begin with the ids of the turn before.
5. `masks`: the loss masks, compared with the turns of the conversation, which `turns` finds.
6. For the command: again `frameworks`, the fields of each, and `records`, their rollouts, also from files.

Used by: the command `rollouts`, and the hooks in `integrations`.

Cost: as for validation if rollouts are canonical; 2 to 4 µs more for each span that is not.
"""
