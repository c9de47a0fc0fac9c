"""Where a job is executed."""

from streamgauge.places.embedded_cluster import EmbeddedCluster, failure_settings
from streamgauge.places.spark_home import spark_classes
from streamgauge.places.spelling import parse_place
from streamgauge.places.targets import fault_targets

__all__ = ["EmbeddedCluster", "failure_settings", "fault_targets", "parse_place", "spark_classes"]
