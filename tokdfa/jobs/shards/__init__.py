"""Corpora of many shards: counts, and where they are not canonical, as reports that add up.

Read in this order:

1. `report`: the findings in some shards. Reports add up in any order, so shards may be checked anywhere.
2. `check`: `check_shard` reads one shard and judges each of its documents. It cuts a stream into parts that several
   threads judge with the same result; `part` judges one of them, and counts its kinds of ids, `tenths` where in
   documents violations are. `check_rows` checks
   rows that are in memory.
3. `stream`: one stream, with its first violation or all, and its report.
4. `run`: `check_shards` checks all shards on one machine, with threads, and a file that is written as it goes.

Used by: the command `validate`, for folders and several files; `integrations`, for clusters.

Cost: validation, and 1 to 2 ns an id for counting; a quarter of a millisecond a shard.
"""
