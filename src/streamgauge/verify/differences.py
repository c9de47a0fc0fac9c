"""What a comparison of outputs with the oracle's answer found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from streamgauge.store.tables import one_row

EXAMPLES = 5


@dataclass(frozen=True)
class Differences:
    """Counts of what differed, with examples in words for each kind."""

    lost: int = 0
    wrong: int = 0
    unexpected: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    examples: Mapping[str, list[str]] = field(default_factory=dict)


def first_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    """The one row of a query, with 0 for what is NULL in it."""
    return tuple(0 if value is None else value for value in one_row(connection, query))


def pick_examples(by_kind: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Up to five examples, one of each kind in turn so that no kind hides another."""
    picked: list[str] = []
    for rank in range(EXAMPLES):
        picked += [f"{kind}: {texts[rank]}" for kind, texts in by_kind.items() if rank < len(texts)]
    return tuple(picked[:EXAMPLES])


def in_words(names: Iterable[str], values: Iterable[Any]) -> str:
    """Named values as a short text: word='a', seen=3."""
    return ", ".join(f"{name}={_short(value)}" for name, value in zip(names, values, strict=True)) or "an output"


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
