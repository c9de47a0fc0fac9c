"""What an answer is worth against the labels that the events carry."""

from __future__ import annotations

from typing import Any


def precision_and_recall(events: Any, labelled: str) -> dict[str, float]:
    """Both shares over a query with a row per labelled event: whether it was `named`, and whether it was `meant`."""
    counts = events.sql(f"""
        select count(*) filter (named and meant), count(*) filter (named), count(*) filter (meant) from ({labelled})
    """)
    return shares_of(*counts.fetchone())


def shares_of(right: int, named: int, meant: int) -> dict[str, float]:
    """Precision, the share of the named that are right, and recall, the share of those meant that are.

    A share of nothing is left out: there is no precision where nothing was named, no recall where nothing was meant.
    """
    shares = {"precision": (right, named), "recall": (right, meant)}
    return {name: part / whole for name, (part, whole) in shares.items() if whole}
