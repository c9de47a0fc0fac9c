"""What flink runs, what it does not, and what its job process is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from streamgauge.applications import all_applications, get_application
from streamgauge.engines import get_engine
from streamgauge.engines.flink.description import described, read_description
from streamgauge.engines.flink.program import all_programs
from streamgauge.lab.planning import plan_trials
from streamgauge.lab.request import RunRequest
from streamgauge.model import Delimited, FieldType
from streamgauge.places import parse_place

FLINK = get_engine("flink")
PORTED = {
    *("identity", "sample", "projection", "grep", "wordcount", "distinct-count", "statistics"),
    *("ad-analytics", "traffic-flow", "spike-detection", "trending-topics", "windowed-count", "stored-join"),
}


def test_every_program_belongs_to_an_application_and_its_stages_to_outputs() -> None:
    assert set(all_programs()) == PORTED
    for name, program in all_programs().items():
        application = get_application(name)
        assert {output.stage for output in application.outputs} == set(program.stages), name
        assert set(program.event_times) <= set(application.inputs)


def test_what_has_no_program_is_a_gap_that_may_go() -> None:
    gaps = {name: FLINK.gap(application) for name, application in all_applications().items()}
    assert {name for name, gap in gaps.items() if gap is None} == PORTED
    assert all(gap.kind == "not-yet" and "no Flink program" in gap.reason for gap in gaps.values() if gap is not None)


def test_a_users_file_is_not_taken_for_ours_by_its_name() -> None:
    own = get_application(str(Path(__file__).parents[2] / "applications" / "own_pipeline.py"))
    gap = FLINK.gap(replace(own, name="wordcount"))
    assert gap is not None and gap.kind == "not-yet"


def test_every_stage_that_can_be_checked_can_be_run() -> None:
    for stage in ("ingest", "parse", "join", "tumbling", "sliding"):
        assert FLINK.gap(get_application("traffic-flow").stopped_after(stage)) is None


def test_an_application_is_one_job_without_topics_between() -> None:
    assert get_application("traffic-flow").cuts
    assert FLINK.cut(get_application("traffic-flow"), {}).cuts == ()


@pytest.mark.parametrize("name", sorted(PORTED))
def test_the_description_travels_as_json(name: str) -> None:
    application = get_application(name)
    told = read_description(json.loads(json.dumps(described(application, {}))))
    assert told.name == name
    assert dict(told.parameters) == application.bind({})
    for input_name, stream in application.inputs.items():
        assert [(f.name, f.type) for f in told.inputs[input_name].fields] == [(f.name, f.type) for f in stream.fields]
        assert told.inputs[input_name].wire == stream.wire
        assert told.inputs[input_name].required == application.required_of(input_name)


def test_a_wire_format_is_read_back_as_it_was() -> None:
    told = read_description(described(get_application("wordcount"), {}))
    assert told.inputs["searches"].wire == Delimited("\t")
    assert told.inputs["searches"].fields[2].type is FieldType.TIMESTAMP
    assert told.outputs["count"].key == ("word",)


def test_a_spark_cluster_is_no_place_for_it_and_a_flink_cluster_none_for_spark() -> None:
    gap = FLINK.place_gap(parse_place("cluster:2"))
    assert gap is not None and gap.kind == "not-yet" and "runs no Flink" in gap.reason
    gap = get_engine("spark-realtime").place_gap(parse_place("flink://here:8081"))
    assert gap is not None and gap.kind == "never"
    assert get_engine("spark-realtime").place_gap(parse_place("local")) is None


def test_dead_letters_and_stores_are_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(FLINK.environment), "problem", lambda self: None)
    request = RunRequest(applications=("grep",), engines=("flink",))
    assert plan_trials(request)[0].gap is None
    (malformed,) = plan_trials(replace(request, malformed=0.01))
    assert malformed.gap is not None and "malformed" in malformed.gap.reason
    (stored,) = plan_trials(replace(request, sink="redis://127.0.0.1:1"))
    assert stored.gap is not None and "log alone" in stored.gap.reason


def test_a_missing_environment_is_a_gap_of_the_trial_and_not_of_the_application(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (planned,) = plan_trials(RunRequest(applications=("grep",), engines=("flink",)))
    assert planned.gap is not None and "streamgauge engines add flink" in planned.gap.reason
    assert FLINK.gap(get_application("grep")) is None
