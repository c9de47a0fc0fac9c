"""Where a job is executed."""

from streamgauge.places.local import parse_place

__all__ = ["parse_place"]
