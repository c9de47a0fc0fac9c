"""Names and texts in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def name(text: str) -> str:
    """A name, whatever words Flink reserves."""
    return f"`{text.replace('`', '``')}`"


def literal(text: str) -> str:
    """A text."""
    return "'" + text.replace("'", "''") + "'"


def double(value: float) -> str:
    """A number as a DOUBLE; without an exponent Flink takes it for a DECIMAL."""
    written = repr(float(value))
    return written if "e" in written else f"{written}e0"


def options(values: Mapping[str, str]) -> str:
    """The options of a table."""
    return ", ".join(f"{literal(key)} = {literal(value)}" for key, value in values.items())


def divided(number: str, by: int) -> str:
    """A whole number by another that it is a multiple of."""
    return f"CAST(({number}) / {by} AS BIGINT)"


def listed(names: Iterable[str]) -> str:
    """Names with commas."""
    return ", ".join(map(name, names))
