"""Children that go behind others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from streamgauge.model import UserError
from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import NICENESS_VARIABLE, end_process, lower_priority, put_job_behind, start_child


def grouped() -> bool:
    """Whether sessions compete; the file is there and empty where control groups do instead."""
    autogroup = Path("/proc/self/autogroup")
    return autogroup.exists() and bool(autogroup.read_text().strip())


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with Guard() as guard:
        found = start_child([sys.executable, "-c", "import time; time.sleep(60)"], guard)
        yield found
        end_process(found, 1.0, guard)


def test_a_child_goes_behind_others(child: subprocess.Popen[bytes]) -> None:
    niceness = psutil.Process().nice() + 3
    lower_priority(child.pid, niceness)
    assert psutil.Process(child.pid).nice() == niceness


@pytest.mark.skipif(not grouped(), reason="processes are not grouped by session here")
def test_so_does_its_session_where_sessions_compete(child: subprocess.Popen[bytes]) -> None:
    lower_priority(child.pid, psutil.Process().nice() + 3)
    mine, its = (Path(f"/proc/{who}/autogroup").read_text().split() for who in ("self", child.pid))
    assert its[0] != mine[0]
    assert int(its[-1]) == psutil.Process().nice() + 3


def test_how_far_a_job_goes_behind_is_the_users_to_say(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NICENESS_VARIABLE, "19")
    put_job_behind(child.pid)
    assert psutil.Process(child.pid).nice() == 19


@pytest.mark.parametrize("given", ["", "-1", "20", "low"])
def test_a_niceness_that_is_none_names_the_way_out(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NICENESS_VARIABLE, given)
    with pytest.raises(UserError, match=NICENESS_VARIABLE):
        put_job_behind(1)


def test_a_child_that_is_gone_is_no_error(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    lower_priority(child.pid, 5)
