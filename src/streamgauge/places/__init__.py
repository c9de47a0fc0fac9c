"""Where a job is executed."""

from streamgauge.places.embedded_cluster import EmbeddedCluster
from streamgauge.places.spelling import parse_place
from streamgauge.places.targets import fault_targets

__all__ = ["EmbeddedCluster", "fault_targets", "parse_place"]
