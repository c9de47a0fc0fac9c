"""flink: Apache Flink through PyFlink's Table API and SQL, in an environment of its own (EN4)."""

from streamgauge.engines.flink.engine import FlinkEngine

ENGINE = FlinkEngine()
