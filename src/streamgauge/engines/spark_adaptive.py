"""spark-adaptive: segments change between real-time mode and micro-batches while they run (DO1–DO6)."""

from __future__ import annotations

from streamgauge.engines.spark.adaptive_engine import AdaptiveEngine
from streamgauge.engines.spark_microbatch import ENGINE as OPERATION
from streamgauge.engines.spark_realtime import ENGINE as DATA
from streamgauge.model import Setting

ENGINE = AdaptiveEngine(
    name="spark-adaptive",
    about="Structured Streaming in both modes: each segment in real time, and in micro-batches while a burst lasts",
    data=DATA,
    operation=OPERATION,
    trigger=DATA.trigger,
    output_mode="update",
    settings={
        "delta": Setting("0.2", "δ of the hysteresis around the switch point"),
        "dwell": Setting("2s", "least time from one switch of a segment to its next"),
        "objective": Setting("", "a latency to be kept, like p99<200ms: it biases the choice; empty for none"),
        "cuts": Setting("auto", "stages that a topic follows, with commas; none; auto: from the calibration's λ"),
        "calibration": Setting("", "a calibration's run or file: what is known of the segments before they start"),
        "repeats-within": Setting(
            "10min", "how far apart in time rows between segments may be read; repeats are known so long"
        ),
        "standby": Setting("on", "on: micro-batches are warmed up beside the running query, once; off"),
        "rehearse": Setting("", "switch every so often whatever the load, like 2s, to see what it costs; empty: never"),
        "batch-duration": DATA.settings["batch-duration"],
        "trigger": OPERATION.settings["trigger"],
        "max-offsets-per-trigger": Setting("", "most events in one micro-batch; empty for what the scheduler chooses"),
    },
    spark=DATA.spark,
    source=DATA.source,
    warming=DATA.warming,
    holds_slots=True,
)
