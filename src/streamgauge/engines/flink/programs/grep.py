"""Grep: the lines that contain a text."""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import literal
from streamgauge.engines.flink.program import Program, Result


def grep(*, pattern: str) -> Result:
    """The lines that contain the text, letter by letter: LIKE compares bytes, and is used where it means that."""
    plain = not set(pattern) & set("%_\\")
    contains = f"`raw` LIKE {literal(f'%{pattern}%')}" if plain else f"POSITION({literal(pattern)} IN `raw`) > 0"
    return Result(f"SELECT `raw` AS line, {origin.text()} AS origin FROM searches WHERE {contains}")


PROGRAM = Program("grep", {"grep": grep})
