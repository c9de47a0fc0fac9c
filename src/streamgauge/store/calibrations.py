"""A calibration of both paradigms and the decisions of an adaptive trial, as files of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamgauge.model.errors import UserError

CALIBRATION = "calibration"
"""The name of its file in a run's folder."""
DECISIONS = "decisions"
"""The name of a trial's file of decisions, one JSON object to a line."""

_DOCUMENT = ("schema", "application", "segments", "points")


def check_calibration(document: Mapping[str, Any]) -> None:
    """Refuse a document that its readers could not use."""
    missing = [name for name in _DOCUMENT if name not in document]
    if missing or not document["segments"]:
        why = f"it lacks {', '.join(missing)}" if missing else "it has no segment"
        raise UserError(f"the calibration of {document.get('application', '?')} cannot be stored: {why}")
