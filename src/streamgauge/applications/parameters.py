"""Parameters that refuse a value while the command line is read, long before anything is started."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from streamgauge.model.application import Parameter
from streamgauge.model.errors import UserError, unknown
from streamgauge.model.stream import Stream
from streamgauge.model.wire import FieldType


@dataclass(frozen=True)
class OneOf(Parameter):
    """A text out of a list."""

    choices: tuple[str, ...] = ()
    kind: str = "value"
    """What the choices are, for the error: 'field of aol-search'."""

    def parse(self, name: str, text: str) -> str:
        """The text, if it is one of the choices."""
        if text not in self.choices:
            raise unknown(self.kind, text, list(self.choices))
        return text


@dataclass(frozen=True)
class Fraction(Parameter):
    """A number above 0 and at most 1."""

    def parse(self, name: str, text: str) -> float:
        """The text as a number above 0 and at most 1."""
        value = float(super().parse(name, text))
        if not 0 < value <= 1:
            raise UserError(f"parameter '{name}' is {text}, which is not above 0 and at most 1", "Write it like 0.1")
        return value


@dataclass(frozen=True)
class Positive(Parameter):
    """A number above 0, whole if its default is."""

    def parse(self, name: str, text: str) -> int | float:
        """The text as a number above 0."""
        value = super().parse(name, text)
        assert isinstance(value, int | float)
        if not 0 < value < math.inf:
            raise UserError(f"parameter '{name}' is {text}, which is not above 0", f"Write it like {self.default}")
        return value


@dataclass(frozen=True)
class WholeNumber(Parameter):
    """A whole number between two others, both allowed."""

    least: int = 1
    most: int = 2**31 - 1

    def parse(self, name: str, text: str) -> int:
        """The text as a whole number that is not too small and not too large."""
        value = super().parse(name, text)
        assert isinstance(value, int)
        if not self.least <= value <= self.most:
            raise UserError(f"parameter '{name}' is {text}, which is not from {self.least} to {self.most}")
        return value


def field_of(stream: Stream, default: str, about: str, types: Iterable[FieldType] = tuple(FieldType)) -> OneOf:
    """A parameter that names a field of the stream, of one of the types."""
    choices = tuple(field.name for field in stream.fields if field.type in set(types))
    return OneOf(default, about, choices, f"field of {stream.name}")
