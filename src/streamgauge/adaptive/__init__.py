"""The dual-paradigm engine for programs of your own: `run_adaptive` needs a Spark session and Kafka, no laboratory."""

from streamgauge.adaptive.library import AdaptiveQuery, run_adaptive

__all__ = ["AdaptiveQuery", "run_adaptive"]
