"""sites (SB9): a directory of web sites with the category and the popularity of each.

`--data sites=FILE` takes a CSV file with the columns site, category and popularity, with or without a header line.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams import vocabulary
from streamgauge.streams.randomness import field, random_bits
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables.reading import checked, read_csv

FIELDS = (
    Field("site", FieldType.STRING, "address of the site"),
    Field("category", FieldType.STRING, "what the site is about"),
    Field("popularity", FieldType.LONG, "its rank in the directory, 1 for the most visited"),
)
CATEGORIES = ("arts", "business", "games", "health", "home", "news", "recreation", "science", "shopping", "travel")
BY_ENDING = {"edu": "education", "gov": "government"}
UNLISTED = (7, 10)
"""The directory leaves out the seventh of every ten sites, so that a join has something to drop."""


def _rows() -> pa.Table:
    place, every = UNLISTED
    sites = vocabulary.sites()
    chosen = field(random_bits(0, 0, 0, len(sites)), 0, 32) % len(CATEGORIES)
    listed = [
        (site, BY_ENDING.get(site.rpartition(".")[2]) or CATEGORIES[number])
        for rank, (site, number) in enumerate(zip(sites, chosen.tolist(), strict=True), start=1)
        if rank % every != place
    ]
    addresses, categories = zip(*listed, strict=True)
    columns = [pa.array(addresses), pa.array(categories), pa.array(range(1, len(listed) + 1), pa.int64())]
    return pa.table(columns, schema=arrow_schema(FIELDS))


def _recorded(path: Path) -> pa.Table:
    return checked(read_csv(path, FIELDS), FIELDS, "site", path)


TABLE = StoredTable(
    name="sites",
    about="A directory of web sites: the category and popularity of each",
    fields=FIELDS,
    synthetic=_rows,
    recorded=_recorded,
)
