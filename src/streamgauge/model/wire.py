"""How a record is written as bytes: declared once, understood by generators, engines and oracles alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class FieldType(Enum):
    """The types that a field on the wire can have."""

    STRING = "string"
    LONG = "long"
    DOUBLE = "double"
    TIMESTAMP = "timestamp"
    """An instant, written as `YYYY-MM-DD hh:mm:ss` in UTC."""


@dataclass(frozen=True)
class Field:
    """One named and typed column of a record."""

    name: str
    type: FieldType
    about: str = ""
    optional: bool = False
    """Whether an event may lack it; without one that is not optional an event is malformed."""


@dataclass(frozen=True)
class Delimited:
    """Fields in order, one character between them, no quoting, a missing field empty."""

    separator: str = "\t"


@dataclass(frozen=True)
class Text:
    """The whole payload is the text of one column."""

    column: str


@dataclass(frozen=True)
class Template:
    """A line of text with fields in it, like `{host} [{time}] "{request}"`; a missing field is written as a hyphen.

    A field ends where the text after it first appears; the last may be followed by the end of the line alone.
    """

    text: str

    @property
    def pieces(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the fields in order, and the texts before, between and after them."""
        parts = re.split(r"\{(\w+)\}", self.text)
        return tuple(parts[1::2]), tuple(parts[0::2])


@dataclass(frozen=True)
class Json:
    """One JSON object per record, a member per column."""


WireFormat = Delimited | Text | Json | Template
