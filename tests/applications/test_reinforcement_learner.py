"""Reinforcement learner: the action with the highest upper bound, with bounds worked out by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from streamgauge.applications.reinforcement_learner import APPLICATION, answer_of_every_visit, choose
from streamgauge.model.errors import UserError
from streamgauge.streams.learner_events import ACTIONS, SyntheticLearnerEvents

FEEDBACK = [
    # partition, offset, learner, kind, round, action, reward
    (0, 0, "L", "visit", 7, None, None),  # no reward yet: random
    (0, 1, "L", "reward", None, "a", 10),
    (0, 2, "L", "reward", None, "a", 20),
    (0, 3, "L", "reward", None, "b", 16),
    (0, 4, "L", "visit", 8, None, None),  # b has one reward: still random
    (0, 5, "L", "reward", None, "b", 16),
    (0, 6, "L", "visit", 9, None, None),  # a: (30 + √(100/1)) / 2 = 20; b: (32 + √(0/1)) / 2 = 16
    (0, 7, "L", "reward", None, "b", 28),
    (0, 8, "L", "visit", 10, None, None),  # a: 20; b: (60 + √(288/2)) / 3 = 24
    (0, 9, "L", "reward", None, "c", 999),
    (0, 10, "L", "reward", None, "a", None),
    (0, 11, "L", "reward", None, "a", 5_000_000),
    (0, 12, "L", "visit", None, None, None),
    (0, 13, "L", "visit", 11, None, None),  # nothing of the last four counted
    (1, 0, "M", "visit", 7, None, None),
    (1, 1, "T", "reward", None, "b", 5),
    (1, 2, "T", "reward", None, "a", 5),
    (1, 3, "M", "reward", None, "a", 1),
    (1, 4, "T", "reward", None, "a", 5),
    (1, 5, "T", "reward", None, "b", 5),
    (1, 6, "T", "visit", 1, None, None),  # both 5: the first
]
RANDOM = {("L", 7): "b", ("L", 8): "a", ("M", 7): "b"}
"""The MD5 of `L:7` begins with 959ef455, that of `L:8` with 45ea9592, that of `M:7` with 668d7fc5: odd, even, odd."""
ANSWERS = [
    (0, 0, "L", 7, RANDOM["L", 7], "random"),
    (0, 4, "L", 8, RANDOM["L", 8], "random"),
    (0, 6, "L", 9, "a", "estimate"),
    (0, 8, "L", 10, "b", "estimate"),
    (0, 13, "L", 11, "b", "estimate"),
    (1, 0, "M", 7, RANDOM["M", 7], "random"),
    (1, 6, "T", 1, "a", "estimate"),
]
GIVEN = {"actions": "a,b", "samples": 2, "width": 1.0}
ANSWER = ("learner_id", "round", "action", "choice")


@pytest.fixture
def frame(spark, origin_type):
    def build(rows):
        fields = "learner_id string, kind string, round bigint, action string, reward bigint"
        made = [(*rest, (1000 + offset, partition, offset, 0)) for partition, offset, *rest in rows]
        return spark.createDataFrame(made, f"{fields}, {origin_type}")

    return build


@pytest.mark.spark
def test_in_batches_every_visit_is_answered(frame, rows_of):
    found = choose.using_variant("stateful")(frame(FEEDBACK), **GIVEN)
    assert rows_of(found, "origin.partition", "origin.offset", *ANSWER) == sorted(ANSWERS, key=repr)


@pytest.mark.spark
@pytest.mark.parametrize(("last", "answers"), [(1, [0]), (5, [1]), (6, []), (7, [2]), (9, [3]), (14, [4])])
def test_the_aggregate_answers_where_the_latest_row_is_a_visit(last, answers, frame, rows_of):
    found = choose(frame(FEEDBACK[:last]), **GIVEN)
    assert rows_of(found, "origin.partition", "origin.offset", *ANSWER) == [ANSWERS[place] for place in answers]


@pytest.mark.spark
def test_the_aggregate_gives_the_first_of_equal_bounds(frame, rows_of):
    assert rows_of(choose(frame(FEEDBACK[14:]), **GIVEN), *ANSWER) == [("T", 1, "a", "estimate")]


def test_the_oracle_answers_every_visit(literal_events, rows_of):
    rows = [(partition, offset, 1000 + offset, "", *rest) for partition, offset, *rest in FEEDBACK]
    fields = "learner_id varchar, kind varchar, round bigint, action varchar, reward bigint"
    literal_events.add("feedback", fields, rows)
    expected = answer_of_every_visit(literal_events, **GIVEN).rows
    assert rows_of(expected, "partition", '"offset"', *ANSWER) == sorted(ANSWERS, key=repr)


def test_learners_find_the_action_that_earns_most(literal_events):
    source = SyntheticLearnerEvents(4)
    block = pa.table(source.block(0, 60_000)).append_column("offset", [range(60_000)])
    literal_events._connection.register("feedback", block.append_column("partition", [[0] * 60_000]))
    answers = answer_of_every_visit(literal_events, actions=",".join(ACTIONS), samples=10, width=1.96).rows
    late = answers.filter("\"offset\" > 50000 and choice = 'estimate'").df()
    places = late["learner_id"].str.removeprefix("place-").astype("int32").to_numpy()
    best = source.earnings(places).argmax(axis=1)
    assert len(late) > 2000
    assert (late["action"].to_numpy() == [ACTIONS[place] for place in best]).mean() > 0.9


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"actions": "a"}, "not two or more different names"),
        ({"actions": "a,a"}, "not two or more different names"),
        ({"actions": "a,b'"}, "not two or more different names"),
        ({"samples": "1"}, "not from 2"),
        ({"width": "0"}, "not above 0"),
    ],
)
def test_a_wrong_parameter_is_refused(given, told):
    with pytest.raises(UserError, match=told):
        APPLICATION.bind(given)
