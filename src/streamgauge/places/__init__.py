"""Where a job is executed."""

from streamgauge.places.embedded_cluster import EmbeddedCluster, failure_settings
from streamgauge.places.needs import check_needs, driver_address, on_this_machine
from streamgauge.places.spark_home import connector_class_path, spark_classes
from streamgauge.places.spelling import parse_place
from streamgauge.places.targets import fault_targets

__all__ = [
    "EmbeddedCluster",
    "check_needs",
    "connector_class_path",
    "driver_address",
    "failure_settings",
    "fault_targets",
    "on_this_machine",
    "parse_place",
    "spark_classes",
]
