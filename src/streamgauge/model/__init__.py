"""Frozen values and protocols that every room shares; standard library only."""

from streamgauge.model.application import (
    Application,
    Emits,
    Expected,
    LatestPerKey,
    Output,
    Parameter,
    PerEvent,
    Stage,
    Variant,
    stage,
    wanted,
)
from streamgauge.model.engine import Engine, Gap, Guarantee, Place, Setting
from streamgauge.model.errors import EngineError, LogError, StoreError, StreamgaugeError, UserError, unknown
from streamgauge.model.load import Load, LoadKind
from streamgauge.model.stream import Source, Stream
from streamgauge.model.table import StoredTable
from streamgauge.model.trial import Trial
from streamgauge.model.verdict import Verdict
from streamgauge.model.wire import Delimited, Field, FieldType, Json, Template, Text, WireFormat

__all__ = [
    "Application",
    "Delimited",
    "Emits",
    "Engine",
    "EngineError",
    "Expected",
    "Field",
    "FieldType",
    "Gap",
    "Guarantee",
    "Json",
    "LatestPerKey",
    "Load",
    "LoadKind",
    "LogError",
    "Output",
    "Parameter",
    "PerEvent",
    "Place",
    "Setting",
    "Source",
    "Stage",
    "StoreError",
    "StoredTable",
    "Stream",
    "StreamgaugeError",
    "Template",
    "Text",
    "Trial",
    "UserError",
    "Variant",
    "Verdict",
    "WireFormat",
    "stage",
    "unknown",
    "wanted",
]
