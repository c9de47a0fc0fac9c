"""Reads a user's Kafka configuration file: security settings, and how topics are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from streamgauge.model.errors import UserError


@dataclass(frozen=True)
class Configuration:
    """What a configuration file says."""

    settings: dict[str, str] = field(default_factory=dict)
    """Client settings, by the names that the file uses."""
    partitions: int | None = None
    replication: int | None = None


def read_configuration(path: Path) -> Configuration:
    """Parse `key=value` lines; `#`, `!` and `;` start comments, an INI section line is passed over."""
    try:
        text = path.read_text()
    except OSError as error:
        raise UserError(
            f"cannot read the Kafka configuration {path}: {error.strerror}", "Give --kafka-config an existing file"
        ) from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not a text file", "Give --kafka-config a file of key=value lines") from None
    return parse_configuration(text, str(path))


def parse_configuration(text: str, where: str = "the Kafka configuration") -> Configuration:
    """The text of a configuration file as values; a mistake names its line."""
    settings: dict[str, str] = {}
    counts: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line[0] in "#!;" or (line.startswith("[") and line.endswith("]")):
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        at = f"{where}, line {number}"
        if not equals or not key or any(c.isspace() for c in key):
            raise UserError(f"{at}: '{line}' is not key=value", "Write it like security.protocol=SASL_SSL")
        if key in settings or key in counts:
            raise UserError(f"{at}: '{key}' is set twice", "Keep one of the two lines")
        if key in ("partitions", "replication"):
            counts[key] = _positive(value, key, at)
        elif key == "bootstrap.servers":
            raise UserError(f"{at}: bootstrap.servers does not belong here", "Give the address as --kafka HOST:PORT")
        else:
            settings[key] = value
    return Configuration(settings, counts.get("partitions"), counts.get("replication"))


def _positive(value: str, key: str, at: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise UserError(f"{at}: {key} takes a whole number from 1, not '{value}'", f"Write it like {key}=3")
    return int(value)
