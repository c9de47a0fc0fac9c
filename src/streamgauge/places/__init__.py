"""Where a job is executed."""

from streamgauge.places.local import parse_place, place_gap
from streamgauge.places.targets import fault_targets

__all__ = ["fault_targets", "parse_place", "place_gap"]
