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


def recorded_files(texts: Sequence[str]) -> dict[str, str]:
    """`FILE` or `NAME=FILE` texts as a mapping; a file without a name is for the one input there is."""
    named = [text if _is_named(text) else f"={text}" for text in texts]
    found: dict[str, str] = {}
    for text in named:
        name, _, path = text.partition("=")
        if found.get(name, path) != path:
            raise UserError(f"--data {name or 'without a name'} is given twice", "Keep one of them")
        found[name] = path
    return found


def _is_named(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.replace("_", "").replace("-", "").isalnum()


def share(option: str, text: str) -> float:
    """`1%` or `0.01` as a fraction."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise UserError(f"{option} takes a share, not '{text}'", f"Write it like {option} 1%") from None
