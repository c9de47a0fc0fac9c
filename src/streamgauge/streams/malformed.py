"""Events spoiled on purpose, a share of them chosen by seed and index; and which events are malformed as they are."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.stream import Stream
from streamgauge.model.wire import Delimited, FieldType, Json, Template, Text
from streamgauge.streams.randomness import field, random_bits

KINDS = ("truncated", "missing field", "wrong type", "empty", "not UTF-8")
_LANE = 9_973
"""A lane of randomness that no stream uses."""
_NO_VALUE = "oops"
"""What stands where a number or a time is wanted."""


@dataclass(frozen=True)
class Spoiling:
    """How a stream's events are spoiled: which share, and which fields an application cannot do without."""

    seed: int
    share: float
    required: tuple[str, ...] = ()

    def kinds(self, start: int, count: int) -> npt.NDArray[np.int64]:
        """The kind of each event's defect as a position in KINDS, −1 where it stays whole."""
        bits = random_bits(self.seed, _LANE, start, count)
        chosen = field(bits, 0, 32) < self.share * 2**32
        return np.where(chosen, field(bits, 32, 16) % len(KINDS), -1)


def spoiled(spoiling: Spoiling, stream: Stream, payloads: pa.BinaryArray, start: int) -> pa.BinaryArray:
    """The payloads with the chosen ones made malformed; only those are touched one by one."""
    kinds = spoiling.kinds(start, len(payloads))
    chosen = np.flatnonzero(kinds >= 0)
    if not len(chosen):
        return payloads
    defects = [_spoil(stream, spoiling.required, KINDS[kinds[i]], payloads[int(i)].as_py()) for i in chosen]
    mask = np.zeros(len(payloads), bool)
    mask[chosen] = True
    return pc.replace_with_mask(payloads, pa.array(mask), pa.array(defects, payloads.type))


def malformed(
    stream: Stream, required: tuple[str, ...], batch: pa.RecordBatch, start: int, spoiling: Spoiling | None
) -> npt.NDArray[np.bool_]:
    """Which events an application cannot read: what was spoiled, and what lacks a required field by itself.

    To an application that requires no field every text is an event.
    """
    found = np.zeros(batch.num_rows, bool)
    if spoiling is not None:
        kinds = spoiling.kinds(start, batch.num_rows)
        found |= kinds >= 0 if required else kinds == KINDS.index("not UTF-8")
    for name in required:
        found |= _missing(stream, batch.column(name)).to_numpy(zero_copy_only=False)
    return found


def _missing(stream: Stream, values: pa.Array) -> pa.BooleanArray:
    missing = pc.is_null(values)
    if not pa.types.is_string(values.type):
        return missing
    empty = {Delimited: [""], Text: [""], Template: ["-"], Json: []}[type(stream.wire)]
    return pc.or_(missing, pc.is_in(values, pa.array(empty, pa.string())))


def _spoil(stream: Stream, required: tuple[str, ...], kind: str, payload: bytes) -> bytes:
    if kind == "not UTF-8":
        return b"\xff" + payload
    if kind == "empty" or isinstance(stream.wire, Text):
        return b""
    if kind == "truncated":
        return _truncated(stream, payload)
    names = required or tuple(f.name for f in stream.fields)
    typed = [f.name for f in stream.fields if f.name in names and f.type is not FieldType.STRING]
    wrong = kind == "wrong type" and bool(typed)
    return _changed(stream, payload, typed[0] if wrong else names[0], _NO_VALUE if wrong else None)


def _truncated(stream: Stream, payload: bytes) -> bytes:
    match stream.wire:
        case Delimited(separator):
            return payload.rpartition(separator.encode())[0]
        case Template():
            last = next(text for text in reversed(stream.wire.pieces[1]) if text)
            return payload.rpartition(last.encode())[0]
        case _:
            return payload[: len(payload) // 2].decode(errors="ignore").encode()


def _changed(stream: Stream, payload: bytes, name: str, value: str | None) -> bytes:
    match stream.wire:
        case Json():
            members = json.loads(payload)
            members.pop(name)
            return json.dumps(members if value is None else {**members, name: value}, ensure_ascii=False).encode()
        case Delimited(separator):
            parts = payload.split(separator.encode())
            parts[[f.name for f in stream.fields].index(name)] = (value or "").encode()
            return separator.encode().join(parts)
        case Template():
            return _refilled(stream.wire, payload.decode(), name, value or "-").encode()
        case _:
            return b""


def _refilled(template: Template, line: str, name: str, value: str) -> str:
    names, between = template.pieces
    rest, made = line.removeprefix(between[0]), between[0]
    for each, after in zip(names, between[1:], strict=True):
        text, _, rest = rest.partition(after) if after else (rest, "", "")
        made += (value if each == name else text) + after
    return made
