"""Stored tables: one file each, with generated rows and a reader of the real data."""

from __future__ import annotations

import sys
from functools import cache

from streamgauge.model.errors import unknown
from streamgauge.model.registry import discover
from streamgauge.model.table import StoredTable


@cache
def all_tables() -> dict[str, StoredTable]:
    """Every stored table of this folder by its name."""
    return discover(sys.modules[__name__], "TABLE")


def get_table(name: str) -> StoredTable:
    """The stored table of that name, or a UserError that names the nearest one."""
    tables = all_tables()
    if name not in tables:
        raise unknown("stored table", name, list(tables))
    return tables[name]
