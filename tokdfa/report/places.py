"""The positions of violations in a stream."""

from __future__ import annotations

from tokdfa.report.collect import Places
from tokdfa.report.markup import Markup, tag

__all__ = ["places_picture"]

HEIGHT = 60


def places_picture(places: Places, tokens: int) -> Markup:
    """Return a chart of the number of violations in each part of a stream, given its number of tokens."""
    most = max(places.counts)
    parts = max(-(-tokens // places.width), len(places.counts), 1)
    bars = [
        tag(
            "rect",
            tag("title", f"tokens {part * places.width:,} to {(part + 1) * places.width - 1:,}: {count:,}"),
            x=f"{10 * part:g}",
            y=f"{HEIGHT - max(round(HEIGHT * count / most, 1), 2):g}",
            width=9,
            data_from=part * places.width,
            height=f"{max(round(HEIGHT * count / most, 1), 2):g}",
        )
        for part, count in enumerate(places.counts)
        if count
    ]
    hit = sum(count > 0 for count in places.counts)
    size = f"{places.width:,} token{'s' * (places.width > 1)}"
    said = (
        f"{hit:,} of {parts:,} parts of {size} each {'has' if hit == 1 else 'have'} violations; "
        f"the one with the most has {most:,}, from token {places.counts.index(most) * places.width:,} on."
    )
    return tag(
        "section",
        tag("h2", "Where in the stream"),
        tag(
            "figure",
            tag(
                "svg",
                *bars,
                viewBox=f"0 0 {10 * parts} {HEIGHT}",
                preserveAspectRatio="none",
                role="img",
                aria_label=said,
                class_="places",
            ),
            tag("p", tag("span", "token 0"), tag("span", f"token {max(tokens - 1, 0):,}"), class_="ends"),
            tag("figcaption", said),
        ),
        class_="where",
    )
