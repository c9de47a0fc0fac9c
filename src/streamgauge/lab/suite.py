"""Suites as values: a title, the papers' rows, and matrices of trials with their sizes at every scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from streamgauge.lab.suite_figures import SuiteFigure
from streamgauge.model import UserError

Sizes = Literal["laptop", "paper", "quick"]
SCALES: tuple[Sizes, ...] = ("laptop", "paper", "quick")


@dataclass(frozen=True)
class Scale:
    """Which of a suite's sizes are taken, and how many times."""

    name: str
    sizes: Sizes
    factor: float = 1.0
    """Numbers of events and times are taken so many times; rates, repeats and all else stay as they are."""


LAPTOP = Scale("laptop", "laptop")
PAPER = Scale("paper", "paper")
QUICK = Scale("quick", "quick")


def parse_scale(text: str | None, quick: bool) -> Scale:
    """The scale of `--scale` and `--quick`: laptop, paper, or a share of the paper's sizes like 0.1 or 10%."""
    if quick:
        if text is not None:
            raise UserError(f"--quick and --scale {text} contradict each other", "Give one of them")
        return QUICK
    named = {None: LAPTOP, "laptop": LAPTOP, "paper": PAPER}.get(text)
    if named is not None:
        return named
    assert text is not None
    try:
        factor = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        factor = 0.0
    if not 0 < factor < float("inf"):
        raise UserError(
            f"'{text}' is not a scale", "Write laptop, paper, or a share of the paper's sizes above 0, like 0.1 or 10%"
        )
    return PAPER if factor == 1 else Scale(f"{factor:g} × paper", "paper", factor)


@dataclass(frozen=True)
class Matrix:
    """Axes whose product is trials; every key has a value at every scale."""

    name: str
    values: Mapping[str, Mapping[Sizes, Any]]
    own: frozenset[str]
    """The keys that the matrix itself gives; the others come from the suite's defaults."""
    scales: tuple[Sizes, ...] = SCALES
    """Where it is part of the suite at all."""

    def at(self, sizes: Sizes) -> dict[str, Any]:
        """The value of every key at those sizes."""
        return {key: by_scale[sizes] for key, by_scale in self.values.items()}


@dataclass(frozen=True)
class Suite:
    """A table of trials, written as data."""

    name: str
    shown: str
    """Its file as errors name it."""
    title: str
    about: str
    papers: tuple[str, ...]
    matrices: tuple[Matrix, ...]
    figures: tuple[SuiteFigure, ...] = ()
    """What its page shows, in this order."""

    def facts(self, scale: Scale) -> dict[str, Any]:
        """What is stored of the suite with a run of it."""
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "papers": list(self.papers),
            "scale": scale.name,
            "matrices": [matrix.name for matrix in self.matrices],
            "figures": [figure.as_dict() for figure in self.figures],
        }
