"""The output of SkyRL's generators."""

from __future__ import annotations

import tokdfa
from tokdfa.integrations.skyrl import check_output


def test_lists_are_rollouts() -> None:
    output = {
        "prompt_token_ids": [[64], [64, 261], [64]],
        "response_ids": [[261, 1193], [1193], []],
        "loss_masks": [[1, 1], [1], []],
        "rewards": [0.0, 0.0, 0.0],
        "stop_reasons": None,
    }
    checks = check_output(tokdfa.default_tokenizer(), output)
    assert [check.counts for check in checks] == [(0, 1, 0), (0, 0, 1), (0, 0, 0)]
