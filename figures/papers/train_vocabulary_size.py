"""How many different tokens the corpus has as merges are made: BLOG's +1, 0 and -1."""

from __future__ import annotations

from figures.chart import line_chart
from figures.table import Row
from figures.training_growth import corpus

POINTS = 400
NAMES = {"fra_eng_en": "English sentences", "english": "English books"}


def measure() -> list[Row]:
    """Train on whole corpora until no pair is left; about as many points are kept as a picture can show."""
    import numpy as np

    from tokdfa.training.api import Reading, count_corpus_pieces
    from tokdfa.training.greedy import trace_greedy, vocabulary_sizes
    from tokdfa.training.rules import GreedyRules

    rows: list[Row] = []
    for name in NAMES:
        pieces = count_corpus_pieces(corpus(f"{name}.txt"), Reading())
        sizes = vocabulary_sizes(trace_greedy(pieces, 10**9, GreedyRules(min_frequency=1)))
        steps = np.diff(sizes)
        chosen = {*np.linspace(0, len(sizes) - 1, POINTS, dtype=int).tolist(), int(sizes.argmax())}
        for at in sorted(chosen):
            made = {f"steps_{step:+d}": int((steps[:at] == step).sum()) for step in (1, 0, -1)}
            rows.append({"corpus": name, "merges": at, "tokens": int(sizes[at]), **made})
    return rows


def draw(rows: list[Row]) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    last = {}
    for row in rows:
        series.setdefault(NAMES[row["corpus"]], []).append((row["merges"], row["tokens"]))
        last[NAMES[row["corpus"]]] = row
    steps = "; ".join(
        f"{name}: {row['steps_+1']:,} × +1, {row['steps_+0']:,} × 0, {row['steps_-1']:,} × -1"
        for name, row in last.items()
    )
    return line_chart(
        series,
        title="Different tokens in the corpus, until every piece is one token",
        x_label="merges",
        y_label="different tokens in the corpus",
        marks=False,
        note=f"{steps}.",
    )
