"""Children that go behind others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import end_process, lower_priority, start_child

AUTOGROUP = Path("/proc/self/autogroup")


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


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel does not group processes by session")
def test_so_does_its_session_where_sessions_compete(child: subprocess.Popen[bytes]) -> None:
    lower_priority(child.pid, psutil.Process().nice() + 3)
    mine, its = (Path(f"/proc/{who}/autogroup").read_text().split() for who in ("self", child.pid))
    assert its[0] != mine[0]
    assert int(its[-1]) == psutil.Process().nice() + 3


def test_a_child_that_is_gone_is_no_error(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    lower_priority(child.pid, 5)
