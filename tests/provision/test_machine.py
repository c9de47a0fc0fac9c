from __future__ import annotations

import getpass
import json
import platform
from pathlib import Path

import pytest

from streamgauge.provision.doctor import check_all
from streamgauge.provision.machine import describe_machine


def test_the_machine_is_plain_json_and_names_nobody() -> None:
    machine = describe_machine()
    text = json.dumps(machine)
    assert machine["cores"] >= 1 and machine["memory_bytes"] > 0 and machine["cpu"]
    assert machine["pyspark"] == "4.3.0" and machine["kafka_broker"] == "4.1.1"
    assert "/home" not in text and str(Path.home()) not in text
    for name in {platform.node(), getpass.getuser()} - {"", "root", "localhost"}:
        assert f'"{name}"' not in text


def test_every_point_of_the_doctor_has_a_finding() -> None:
    checks = {check.name: check for check in check_all()}
    assert list(checks) == ["python", "java", "jars", "pyspark", "memory", "disk", "loopback", "leftovers"]
    assert checks["python"].ok and checks["java"].ok and checks["loopback"].ok
    assert all(check.detail for check in checks.values())


def test_what_is_amiss_comes_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M2_REPO", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    checks = {check.name: check for check in check_all()}
    for name in ("java", "jars"):
        assert not checks[name].ok and checks[name].way_out
    assert list(tmp_path.iterdir()) == []
