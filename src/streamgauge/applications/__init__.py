"""One file per application: its stages, and below them an oracle for every output."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from streamgauge.model.application import Application
from streamgauge.model.errors import unknown
from streamgauge.model.loading import load_application
from streamgauge.model.registry import discover


@cache
def all_applications() -> dict[str, Application]:
    """Every application of this folder by its name."""
    return discover(sys.modules[__name__], "APPLICATION")


def is_file(name_or_path: str) -> bool:
    """Whether a user means a file of their own, and not the name of an application."""
    return name_or_path.endswith(".py") or "/" in name_or_path


def get_application(name_or_path: str) -> Application:
    """The application of that name, or the one that a user's own .py file defines."""
    if is_file(name_or_path):
        return load_application(Path(name_or_path))
    known = all_applications()
    if name_or_path not in known:
        raise unknown("application", name_or_path, list(known))
    return known[name_or_path]
