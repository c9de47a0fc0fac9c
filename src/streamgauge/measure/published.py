"""Values that the papers published: theirs, on their machines, shown beside ours and compared with nothing.

One TOML file per paper in `published/`. A group of values belongs to one of a suite's figures; each value names the
system, and where in the paper it stands.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from streamgauge.measure.figures import get_figure
from streamgauge.model.errors import unknown

FOLDER = Path(__file__).parent / "published"

_IN_UNIT_OF_FIGURE = {("s", "ms"): 1000.0, ("ms", "s"): 0.001}


@dataclass(frozen=True)
class PublishedValue:
    """One value: a number of a figure of ours, or what the paper says in words."""

    who: str
    """The system, as the paper calls it."""
    source: str
    """Which row of our list of the papers' contents, and where in the paper."""
    words: str = ""
    value: float | None = None
    """In the unit of the paper."""
    unit: str = ""
    figure: str | None = None
    at: Mapping[str, Any] = field(default_factory=dict)
    """Facet → where it was taken, such as the stage or the number of records."""

    @property
    def text(self) -> str:
        """The value as it is shown."""
        if self.value is None:
            return self.words
        number = f"{self.value:,.0f}" if self.value == int(self.value) or self.value >= 1000 else f"{self.value:,.4g}"
        return f"{number}{'' if self.unit.startswith('/') else ' '}{self.unit}".strip()

    @property
    def in_our_unit(self) -> float | None:
        """The number in the unit of our figure of that name."""
        if self.value is None or self.figure is None:
            return None
        return self.value * _IN_UNIT_OF_FIGURE.get((self.unit, get_figure(self.figure).unit), 1.0)


@dataclass(frozen=True)
class PublishedGroup:
    """Values of one paper that belong together."""

    id: str
    about: str
    paper: str
    machines: str
    values: tuple[PublishedValue, ...]


@cache
def published_groups() -> dict[str, PublishedGroup]:
    """Every group by its id; two of one id are a mistake of the program."""
    found: dict[str, PublishedGroup] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for table in document["group"]:
            if table["id"] in found:
                raise RuntimeError(f"{path.name}: '{table['id']}' is defined twice")
            values = tuple(PublishedValue(**value) for value in table["values"])
            found[table["id"]] = PublishedGroup(
                table["id"], table["about"], document["paper"], document["machines"], values
            )
    return found


def get_published(name: str) -> PublishedGroup:
    """The group of that id; an unknown one is answered with the nearest."""
    groups = published_groups()
    if name not in groups:
        raise unknown("group of published values", name, list(groups))
    return groups[name]
