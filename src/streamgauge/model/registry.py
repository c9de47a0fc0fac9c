"""Finds named values by walking a package, so that adding one is adding one file."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def discover(package: ModuleType, attribute: str) -> dict[str, Any]:
    """Every module-level `attribute` in the package's modules, by its `name`; a duplicate name raises."""
    found: dict[str, Any] = {}
    where: dict[str, str] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda i: i.name):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        value = getattr(module, attribute, None)
        if value is None:
            continue
        if value.name in found:
            raise RuntimeError(f"'{value.name}' is defined twice: in {where[value.name]} and {module.__name__}")
        found[value.name] = value
        where[value.name] = module.__name__
    return found
