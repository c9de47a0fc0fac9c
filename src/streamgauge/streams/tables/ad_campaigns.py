"""ad-campaigns (MA1): which campaign each ad belongs to, a hundred campaigns of ten ads each.

`--data campaigns=FILE` takes what the Yahoo Streaming Benchmark's generator leaves in `ad-to-campaign-ids.txt`, a JSON
object `{ "ad": "campaign"}` per line; JSON lines with the members `ad_id` and `campaign_id`; or a CSV file with these
two columns.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pyarrow as pa

from streamgauge.model.errors import UserError
from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams.identifiers import identifiers
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables.reading import checked, read_csv, text_of_file

FIELDS = (
    Field("ad_id", FieldType.STRING, "the ad"),
    Field("campaign_id", FieldType.STRING, "the campaign that it belongs to"),
)
CAMPAIGN_COUNT = 100
ADS_PER_CAMPAIGN = 10


@cache
def ads() -> tuple[str, ...]:
    """Every ad, those of one campaign together."""
    return tuple(identifiers(lane=1, count=CAMPAIGN_COUNT * ADS_PER_CAMPAIGN))


def _rows() -> pa.Table:
    campaigns = [campaign for campaign in identifiers(lane=0, count=CAMPAIGN_COUNT) for _ in range(ADS_PER_CAMPAIGN)]
    return pa.table({"ad_id": list(ads()), "campaign_id": campaigns}, schema=arrow_schema(FIELDS))


def _recorded(path: Path) -> pa.Table:
    is_json = text_of_file(path).lstrip().startswith("{")
    return checked(_from_json(path) if is_json else read_csv(path, FIELDS), FIELDS, "ad_id", path)


def _from_json(path: Path) -> pa.Table:
    pairs: list[dict[str, str]] = []
    for number, line in enumerate(text_of_file(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            members = json.loads(line)
            if "ad_id" not in members:
                ((ad, campaign),) = members.items()
                members = {"ad_id": ad, "campaign_id": campaign}
            pairs.append({f.name: str(members[f.name]) for f in FIELDS})
        except (ValueError, TypeError, KeyError, AttributeError):
            raise UserError(
                f"{path}, line {number}: not an ad with its campaign",
                'Each line needs an object like {"ad": "campaign"} or {"ad_id": "…", "campaign_id": "…"}',
            ) from None
    return pa.Table.from_pylist(pairs, schema=arrow_schema(FIELDS))


TABLE = StoredTable(
    name="ad-campaigns",
    about="Which campaign each ad belongs to: 100 campaigns of 10 ads",
    fields=FIELDS,
    synthetic=_rows,
    recorded=_recorded,
)
