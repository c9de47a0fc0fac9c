"""The characterisation of an application, checked before it is stored: the instances of a run are taken from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamgauge.model.errors import UserError

CHARACTERISATION = "characterisation"
"""The name of its files in a run's folder: the document as JSON, the samples of its batches as Parquet."""

_DOCUMENT = (
    *("schema", "application", "file", "engine", "events", "batches", "seed", "partitions", "parameters", "settings"),
    *("overhead_ms", "operators", "configurations", "published", "remarks"),
)
_OPERATOR = (
    *("name", "role", "reads", "operator", "pattern", "rows_in", "rows_out", "selectivity", "bytes_in", "bytes_out"),
    *("time_us", "state", "score_us", "instances"),
)


def check_characterisation(document: Mapping[str, Any]) -> None:
    """Refuse a document that its readers could not show whole."""
    missing = [name for name in _DOCUMENT if name not in document]
    if missing:
        raise _refused(document, f"it lacks {', '.join(missing)}")
    if not document["operators"]:
        raise _refused(document, "it has no operator")
    for each in document["operators"]:
        missing = [name for name in _OPERATOR if name not in each]
        if missing:
            raise _refused(document, f"operator '{each.get('name', '?')}' lacks {', '.join(missing)}")
        if each["instances"] < 1:
            raise _refused(document, f"operator '{each['name']}' has no instance")


def _refused(document: Mapping[str, Any], why: str) -> UserError:
    return UserError(f"the characterisation of {document.get('application', '?')} cannot be stored: {why}")
