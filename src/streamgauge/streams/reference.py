"""How another process finds a stream: by its name, or as an input of a user's application file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from streamgauge.model.errors import UserError, unknown
from streamgauge.model.loading import load_application
from streamgauge.model.stream import Source, Stream
from streamgauge.streams import all_streams, get_stream

MOST_SKEW = 3.0


@dataclass(frozen=True)
class StreamReference:
    """A stream by name, or by a user's file and the name of its input; and a recorded file to replay, if any."""

    name: str | None = None
    file: str | None = None
    input: str | None = None
    data: str | None = None
    key_skew: str | None = None
    """How uneven the keys are, where the stream has them otherwise."""

    def __post_init__(self) -> None:
        if (self.name is None) == (self.file is None):
            raise UserError("a stream is referred to by a name or by a file", "Give exactly one of the two")

    def as_dict(self) -> dict[str, Any]:
        """The reference as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StreamReference:
        """The reference that `as_dict` wrote."""
        return cls(**values)


def open_source(ref: StreamReference, seed: int) -> tuple[Stream, Source]:
    """The stream that is meant, and its events: generated from the seed, or replayed from the recorded file."""
    stream = get_stream(ref.name) if ref.name is not None else _input_of_file(str(ref.file), ref.input)
    if ref.key_skew is not None:
        return stream, check_key_skew(stream, ref.data)(seed, parse_key_skew(ref.key_skew))
    if ref.data is None:
        return stream, stream.synthetic(seed)
    if stream.recorded is None:
        raise UserError(
            f"stream '{stream.name}' has no reader of recorded data",
            "Leave out the data file, or give the stream a `recorded` function",
        )
    return stream, stream.recorded(Path(ref.data))


def parse_key_skew(text: str) -> float:
    """'0' for even keys, or a larger exponent of Zipf's law, up to 3."""
    try:
        exponent = float(text)
    except ValueError:
        exponent = -1.0
    if not 0 <= exponent <= MOST_SKEW:
        raise UserError(
            f"'{text}' is not a key skew", f"Write an exponent of Zipf's law from 0 (even keys) to {MOST_SKEW:g}"
        )
    return exponent


def check_key_skew(stream: Stream, data: str | None) -> Callable[[int, float], Source]:
    """How the stream is generated with other keys; a UserError where it cannot be, or where a file is replayed."""
    if data is not None:
        raise UserError("recorded data has the keys that it has", "Leave out the data file or the key skew")
    if stream.skewed is None:
        able = sorted(name for name, each in all_streams().items() if each.skewed is not None)
        raise UserError(
            f"the keys of stream '{stream.name}' cannot be skewed", f"Those of these can: {', '.join(able)}"
        )
    return stream.skewed


def _input_of_file(file: str, name: str | None) -> Stream:
    inputs = load_application(Path(file)).inputs
    if name is None and len(inputs) == 1:
        return next(iter(inputs.values()))
    if name is None or name not in inputs:
        raise unknown(f"input of {file}", name or "", list(inputs))
    return inputs[name]
