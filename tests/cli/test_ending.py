"""How a command ends: signals, its own mistakes, a reader that leaves, and what is imported on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from streamgauge.cli import ending, list_
from streamgauge.model.errors import EngineError
from tests.cli.conftest import Said, signals_as_at_a_terminal

Say = Callable[..., Said]

WAITING = """
import sys, time
from streamgauge.cli.ending import ended_orderly
def work():
    try:
        print("ready", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("told", flush=True)
        raise
    finally:
        time.sleep(0.5)
        print("cleaned", flush=True)
sys.exit(ended_orderly(work))
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=lambda v: str(v)
)
def test_a_signal_ends_in_order_even_when_it_comes_twice(number: signal.Signals, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=signals_as_at_a_terminal,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.readline() == "told\n"
        if number is not signal.SIGINT:
            process.send_signal(number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert out == "cleaned\n"
    assert process.returncode == code
    assert err.startswith("stopped: ")
    assert err.count("\n") == 1


def test_nohup_keeps_its_meaning() -> None:
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)" + WAITING.replace("60", "1")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=20)
    assert "told" not in out


def test_a_failure_keeps_its_exit_code_and_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise EngineError("the job died:\n  out of memory", "Give it more")

    assert ending.ended_orderly(fail) == 5
    assert capsys.readouterr().err == "error: the job died: out of memory. Give it more\n"


def test_a_mistake_of_the_program_is_one_line_with_the_place_of_its_trace(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> list[dict[str, object]]:
        raise ValueError("seven")

    monkeypatch.setitem(list_.LISTINGS, "loads", broken)
    said = say("list", "loads")
    assert said.code == ending.EXIT_UNEXPECTED
    assert said.err.count("\n") == 1
    trace = Path(said.err.strip().rpartition(" ")[2])
    assert "ValueError: seven" in trace.read_text()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_reader_that_leaves_is_not_told_of_it(more: list[str]) -> None:
    code = f"""
import sys, time
from streamgauge.cli import main
time.sleep(0.3)
sys.exit(main({["list", "streams", *more]!r}))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(20) == 1


def test_help_and_version_import_nothing_heavy() -> None:
    code = """
import sys
from streamgauge.cli import main
assert main(["--help"]) == 0 and main(["run", "--help"]) == 0 and main(["--version"]) == 0
heavy = {"pyspark", "duckdb", "plotly", "pyarrow", "numpy", "pandas", "confluent_kafka", "jgo", "psutil"}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr == "[]\n"
    assert "streamgauge 0." in done.stdout


@pytest.mark.parametrize("verb", ["run", "list", "report", "publish", "doctor"])
def test_every_verb_explains_itself_with_examples(say: Say, verb: str) -> None:
    said = say(verb, "--help")
    assert said.code == 0
    assert f"  streamgauge {verb}" in said.out
    assert "Examples:" in said.out
    assert verb in say("--help").out


def test_no_argument_shows_the_help(say: Say) -> None:
    said = say()
    assert "Commands:" in said.out + said.err


def test_a_wrong_verb_is_one_line_that_names_the_right_one(say: Say) -> None:
    said = say("lst")
    assert said.code == 2
    assert said.err == "error: no such command 'lst'. Did you mean 'list'? See `streamgauge --help`\n"


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "streamgauge.cli", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("streamgauge ")
