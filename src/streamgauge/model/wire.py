"""How a record is written as bytes: declared once, understood by generators, engines and oracles alike."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Delimited:
    """Fields in order, one character between them, no quoting, a missing field empty."""

    separator: str = "\t"


@dataclass(frozen=True)
class Text:
    """The whole payload is the text of one column."""

    column: str


@dataclass(frozen=True)
class Json:
    """One JSON object per record, a member per column."""


WireFormat = Delimited | Text | Json
