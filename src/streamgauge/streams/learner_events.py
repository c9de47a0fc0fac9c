"""learner-events (BO12): visits that ask which page to show, and rewards of the pages shown, of many learners.

Both travel in one stream, keyed by the learner, so that the log says which reward a visit could already know. A `visit`
carries the learner's round, which rises; a `reward` carries an action and what it earned, a click-through rate of about
0 to 110. For each learner one action earns most, with the means and spreads of the original's simulator: 30 ± 12,
60 ± 30 and 80 ± 10, dealt out anew. `--data FILE` replays a file in the stream's own format.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.randomness import field, lookup_table, random_bits, random_bits_at, zipf_weights
from streamgauge.streams.recorded import recorded_source
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("learner_id", FieldType.STRING, "who learns: a place on a site"),
    Field("kind", FieldType.STRING, "visit or reward"),
    Field("round", FieldType.LONG, "of a visit: its number, rising", optional=True),
    Field("action", FieldType.STRING, "of a reward: the page that was shown", optional=True),
    Field("reward", FieldType.LONG, "of a reward: what it earned", optional=True),
    Field("time", FieldType.TIMESTAMP, "when it was seen", optional=True),
)
WIRE = Delimited(",")
VISIT, REWARD = "visit", "reward"
ACTIONS = ("page1", "page2", "page3")

_FIRST_SECOND = 1_420_070_400
"""2015-01-01 00:00:00 UTC."""
_EVENTS_PER_SECOND = 50
_LEARNERS = 500
_LEARNER_WIDTH = 14
_MEANS, _SPREADS = np.array([30.0, 60.0, 80.0]), np.array([12.0, 30.0, 10.0])
_DEALS = np.array(list(permutations(range(len(ACTIONS)))))
"""Every way to deal the earnings out to the actions."""


@cache
def _learner_of() -> npt.NDArray[np.int32]:
    return lookup_table(zipf_weights(_LEARNERS, 0.8), _LEARNER_WIDTH)


@cache
def _learner_ids() -> pa.StringArray:
    return pa.array([f"place-{number:03d}" for number in range(_LEARNERS)], pa.string())


@dataclass(frozen=True)
class SyntheticLearnerEvents:
    """Generated visits and rewards: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        index = np.arange(start, start + count, dtype=np.int64)
        bits, spread = (random_bits(self.seed, lane, start, count) for lane in (0, 1))
        learner = _learner_of()[field(bits, 0, _LEARNER_WIDTH)]
        is_reward = field(bits, 14, 1).astype(np.bool_)
        action = field(bits, 16, 16) * len(ACTIONS) >> 16
        earning = self.earnings(learner)[np.arange(count), action]
        # The sum of four even numbers of 16 bits is nearly normal: mean 131070, standard deviation 37837.
        normal = (sum(field(spread, 16 * part, 16) for part in range(4)) - 131_070) / 37_837
        reward = np.maximum(np.rint(_MEANS[earning] + _SPREADS[earning] * normal), 0).astype(np.int64)
        kinds = pa.array([VISIT, REWARD], pa.string())
        actions = pa.array([*ACTIONS, None], pa.string())
        return pa.RecordBatch.from_arrays(
            [
                _learner_ids().take(column(learner)),
                kinds.take(column(is_reward.astype(np.int8))),
                column(index, valid=~is_reward),
                actions.take(column(np.where(is_reward, action, len(ACTIONS)))),
                column(reward, valid=is_reward),
                column(_FIRST_SECOND + index // _EVENTS_PER_SECOND).cast(pa.timestamp("s")),
            ],
            schema=arrow_schema(FIELDS),
        )

    def earnings(self, learner: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """For each learner, which of the three earnings each action has: 2 is the best."""
        deal = field(random_bits_at(self.seed, 2, learner.astype(np.int64)), 0, 16) * len(_DEALS) >> 16
        dealt: npt.NDArray[np.int64] = _DEALS[deal]
        return dealt


def _recorded(path: Path) -> Source:
    return recorded_source(path, FIELDS, WIRE)


STREAM = Stream(
    name="learner-events",
    about="Visits that ask which page to show and rewards of pages, of five hundred places on a site",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticLearnerEvents,
    recorded=_recorded,
    key="learner_id",
    papers=("BO12", "BO19"),
)
