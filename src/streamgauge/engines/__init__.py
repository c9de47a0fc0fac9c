"""How an application is executed: one module or package per engine, found by walking this folder."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any

from streamgauge.model import registry, unknown

if TYPE_CHECKING:
    from streamgauge.engines.execution import ExecutableEngine


@cache
def all_engines() -> dict[str, ExecutableEngine]:
    """Every engine by name."""
    import streamgauge.engines as here

    return registry.discover(here, "ENGINE")


def get_engine(name: str) -> ExecutableEngine:
    """The engine of that name; a job process imports no other."""
    found = _in_module(name.replace("-", "_"))
    if found is not None and found.name == name:
        engine: ExecutableEngine = found
        return engine
    engines = all_engines()
    if name not in engines:
        raise unknown("engine", name, list(engines))
    return engines[name]


def _in_module(module: str) -> Any:
    if not module.isidentifier() or importlib.util.find_spec(f"{__name__}.{module}") is None:
        return None
    return getattr(importlib.import_module(f"{__name__}.{module}"), "ENGINE", None)
