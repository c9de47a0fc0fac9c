"""How another process finds a stream: by its name, or as an input of a user's application file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from streamgauge.model.errors import UserError, unknown
from streamgauge.model.loading import load_application
from streamgauge.model.stream import Source, Stream
from streamgauge.streams import get_stream


@dataclass(frozen=True)
class StreamReference:
    """A stream by name, or by a user's file and the name of its input; and a recorded file to replay, if any."""

    name: str | None = None
    file: str | None = None
    input: str | None = None
    data: str | None = None

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
    if ref.data is None:
        return stream, stream.synthetic(seed)
    if stream.recorded is None:
        raise UserError(
            f"stream '{stream.name}' has no reader of recorded data",
            "Leave out the data file, or give the stream a `recorded` function",
        )
    return stream, stream.recorded(Path(ref.data))


def _input_of_file(file: str, name: str | None) -> Stream:
    inputs = load_application(Path(file)).inputs
    if name is None and len(inputs) == 1:
        return next(iter(inputs.values()))
    if name is None or name not in inputs:
        raise unknown(f"input of {file}", name or "", list(inputs))
    return inputs[name]
