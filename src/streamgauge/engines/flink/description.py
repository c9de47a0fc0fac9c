"""What Flink's process is told of an application, which it cannot import: its streams and outputs, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from streamgauge.model import Application, Delimited, Field, FieldType, Json, Text

_WIRES: dict[str, Any] = {"delimited": Delimited, "json": Json, "text": Text}


@dataclass(frozen=True)
class Input:
    """An input stream: its fields, its wire format, and the fields without which an event is malformed."""

    fields: tuple[Field, ...]
    wire: Delimited | Json | Text
    required: tuple[str, ...]


@dataclass(frozen=True)
class Sink:
    """An output: what its records are keyed by, and the column that is a record's text where it is not JSON."""

    key: tuple[str, ...]
    text: str | None


@dataclass(frozen=True)
class Description:
    """An application without its stages and oracles."""

    name: str
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Input]
    outputs: Mapping[str, Sink]
    tables: Mapping[str, tuple[Field, ...]]


def described(application: Application, parameters: Mapping[str, str]) -> dict[str, Any]:
    """The description of an application as JSON values; a wire format that Flink does not read is left empty."""
    return {
        "name": application.name,
        "parameters": application.bind(parameters),
        "inputs": {
            name: {
                "fields": [_field(each) for each in stream.fields],
                "wire": _wire(stream.wire),
                "required": list(application.required_of(name)),
            }
            for name, stream in application.inputs.items()
        },
        "outputs": {
            output.stage: {
                "key": list(output.matching.key),
                "text": output.wire.column if isinstance(output.wire, Text) else None,
            }
            for output in application.leaf_outputs()
        },
        "tables": {name: [_field(each) for each in table.fields] for name, table in application.tables.items()},
    }


def read_description(values: Mapping[str, Any]) -> Description:
    """The description that `described` gave."""
    inputs = {
        name: Input(_fields(each["fields"]), _read_wire(each["wire"]), tuple(each["required"]))
        for name, each in values["inputs"].items()
    }
    outputs = {stage: Sink(tuple(each["key"]), each["text"]) for stage, each in values["outputs"].items()}
    tables = {name: _fields(each) for name, each in values["tables"].items()}
    return Description(values["name"], values["parameters"], inputs, outputs, tables)


def _field(field: Field) -> dict[str, Any]:
    return {"name": field.name, "type": field.type.value}


def _fields(values: Any) -> tuple[Field, ...]:
    return tuple(Field(each["name"], FieldType(each["type"])) for each in values)


def _wire(wire: Any) -> dict[str, Any]:
    for kind, known in _WIRES.items():
        if isinstance(wire, known):
            return {"kind": kind, **asdict(wire)}
    return {}


def _read_wire(values: Mapping[str, Any]) -> Any:
    return _WIRES[values["kind"]](**{name: value for name, value in values.items() if name != "kind"})
