"""Where a job is executed."""

from streamgauge.places.embedded_cluster import EmbeddedCluster
from streamgauge.places.spelling import parse_place

__all__ = ["EmbeddedCluster", "parse_place"]
