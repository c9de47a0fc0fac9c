"""Where a job is executed."""

from streamgauge.places.local import parse_place, place_gap

__all__ = ["parse_place", "place_gap"]
