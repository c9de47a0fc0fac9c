"""How an application is executed: one module or package per engine, found by walking this folder."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from streamgauge.model import registry, unknown

if TYPE_CHECKING:
    from streamgauge.engines.execution import ExecutableEngine


@cache
def all_engines() -> dict[str, ExecutableEngine]:
    """Every engine by name."""
    import streamgauge.engines as here

    return registry.discover(here, "ENGINE")


def get_engine(name: str) -> ExecutableEngine:
    """The engine of that name."""
    engines = all_engines()
    if name not in engines:
        raise unknown("engine", name, list(engines))
    return engines[name]
