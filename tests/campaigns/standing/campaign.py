"""Parts run on seeds: the cases they reached, and where they differ."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.campaigns.standing import (
    certifying,
    comparing,
    forcing,
    seams,
    training,
)
from tests.campaigns.standing.laws import (
    banning,
    bounds,
    changing,
    cutting,
    decoding,
    finding,
    histories,
    masking,
    replacing,
    rollouts,
    streams,
    verdicts,
)
from tests.support.families import FAMILIES, Member

# Part -> the promise that it tests. Laws share a family's member, and so its tables.
PROMISES = {
    "train": "training",
    "stream": "encoding",
    "change": "encoding",
    "append": "encoding",
    "verdict": "validation",
    "cut": "encoding",
    "decode": "encoding",
    "find": "searching",
    "name": "searching",
    "rewrite": "searching",
    "ban": "searching",
    "rollout": "rollouts",
    "guide": "encoding",
    "history": "encoding",
    "bound": "crashes",
    "splice": "splices",
    "turns": "splices",
    "injection": "splices",
    "compare": "comparison",
    "forced": "encoding",
    "certificates": "certificates",
}
LAWS: dict[str, Callable[[Member, random.Random], Counter[str]]] = {
    "stream": streams.check,
    "change": changing.check,
    "append": changing.check_appending,
    "verdict": verdicts.check,
    "cut": cutting.check,
    "decode": decoding.check,
    "find": finding.check,
    "name": finding.check_named,
    "rewrite": replacing.check,
    "ban": banning.check,
    "rollout": rollouts.check,
    "guide": masking.check,
    "history": histories.check,
    "bound": bounds.check,
}
ALONE: dict[str, Callable[[random.Random], Counter[str]]] = {
    "train": training.check,
    "splice": seams.check,
    "turns": seams.check_turns,
    "injection": seams.check_injection,
    "compare": comparing.check,
    "forced": forcing.check,
    "certificates": certifying.check,
}
# A question takes 30 to 100 ms: these parts ask one for every so many seeds.
ONE_OF = {"splice": 5, "turns": 2, "injection": 4, "compare": 4, "forced": 2, "certificates": 3}


@dataclass
class Outcome:
    """The cases that parts have met, by part, and where they differ."""

    met: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[str, int, str]] = field(default_factory=list)
    seeds: int = 0

    def add(self, other: Outcome) -> None:
        """Add what other seeds have met."""
        for part, met in other.met.items():
            self.met.setdefault(part, Counter()).update(met)
        self.seconds.update(other.seconds)
        self.differences += other.differences
        self.seeds += other.seeds


def member_of(seed: int) -> Member:
    """Return a member of a family; each family has its turn."""
    return [*FAMILIES.values()][seed % len(FAMILIES)](random.Random(f"member {seed}"))


def run(seeds: Iterable[int], parts: Iterable[str] = PROMISES) -> Outcome:
    """Run parts on seeds. Each part draws its own numbers, so a difference is found again by that part alone."""
    outcome = Outcome()
    chosen = [*parts]
    for seed in seeds:
        began = time.process_time()
        member = member_of(seed) if LAWS.keys() & {*chosen} else None
        outcome.seconds["members"] += time.process_time() - began
        for part in chosen:
            drawn, began = random.Random(f"{part} {seed}"), time.process_time()
            try:
                if seed % ONE_OF.get(part, 1):
                    met = Counter()
                elif part in ALONE:
                    met = ALONE[part](drawn)
                else:
                    assert member is not None
                    met = LAWS[part](member, drawn)
                    met[f"{member.family}: refused"] = met.pop("refused", 0)
            except Exception as error:
                outcome.differences.append((part, seed, f"{type(error).__name__}: {error}"))
                met = Counter()
            outcome.met.setdefault(part, Counter()).update(met)
            outcome.seconds[part] += time.process_time() - began
        outcome.seeds += 1
    return outcome
