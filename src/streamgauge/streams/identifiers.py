"""Invented identifiers in the form of random UUIDs, the same on every machine."""

from __future__ import annotations

from uuid import UUID

from streamgauge.streams.randomness import random_bits


def identifiers(lane: int, count: int) -> list[str]:
    """`count` different identifiers; each lane has its own."""
    high, low = (random_bits(0, lane * 2 + half, 0, count).tolist() for half in (0, 1))
    return [str(UUID(int=h << 64 | w, version=4)) for h, w in zip(high, low, strict=True)]
