"""Turns what a person typed into values, with one line where it cannot."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.model.errors import UserError


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """`key=value` texts as a mapping; the same key twice with two values is a mistake."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UserError(f"{option} takes KEY=VALUE, not '{text}'", f"Write it like {option} name=value")
        key = key.strip()
        if found.get(key, value) != value:
            raise UserError(f"{option} {key} is given twice, as '{found[key]}' and '{value}'", "Keep one of them")
        found[key] = value
    return found
