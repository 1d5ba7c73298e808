# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules that were measured, from Python (docs/Tuning.md)."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import fuseops
import numpy as np
import pytest
from conftest import ROOT
from fuseops import cache
from fuseops.options import CompileOptions

PROGRAM = ROOT / "test" / "Tools" / "fuse-compile" / "Inputs" / "tuned.txt"
SCHEDULE = {"vector": 4, "workers": 2}


@pytest.fixture(scope="module")
def schedules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that gives every kernel of PROGRAM one schedule."""
    path = tmp_path_factory.mktemp("schedules") / "schedules.json"
    tool = ROOT / "build" / "dev" / "bin" / "fuse-compile"
    command = [str(tool), str(PROGRAM), "--target=cpu", "--tune", "--size=8", "--candidates=2"]
    subprocess.run([*command, f"--schedules={path}"], check=True, capture_output=True)
    file = json.loads(path.read_text())
    assert len(file["kernels"]) == 2
    for entry in file["kernels"]:
        entry["schedule"] = SCHEDULE
    path.write_text(json.dumps(file))
    return path


def plan(**options: object) -> str:
    return fuseops.emit(PROGRAM, "ir", compile_to="fusion", **options).decode()


def count_scheduled(text: str) -> int:
    return len(re.findall(r"schedule \{vector = 4 : i64, workers = 2 : i64\}", text))


def test_argument(schedules: Path):
    assert count_scheduled(plan()) == 0
    assert count_scheduled(plan(schedules=schedules)) == 2
    assert count_scheduled(plan(schedules=str(schedules))) == 2


def test_environment(schedules: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FUSEOPS_SCHEDULES", str(schedules))
    assert count_scheduled(plan()) == 2
    # Who names none at all means none.
    assert count_scheduled(plan(schedules="")) == 0
    monkeypatch.setenv("FUSEOPS_SCHEDULES", "")
    assert count_scheduled(plan()) == 0


def test_results_are_the_same(schedules: Path):
    values = np.random.default_rng(0).integers(0x3C00, 0x3F80, (70, 96)).astype(np.uint16)
    bias = values[0].copy()
    results = []
    for file in (None, schedules):
        (y,), context = fuseops.compile_ir(PROGRAM, schedules=file).forward(values, bias)
        dx, _ = context.backward(values)
        results.append((np.asarray(y), np.asarray(dx)))
    # No sum is in them, so not a bit depends on the schedule.
    for default, tuned in zip(*results, strict=True):
        np.testing.assert_array_equal(default, tuned)


def test_file_that_is_refused(tmp_path: Path):
    missing = tmp_path / "none.json"
    with pytest.raises(fuseops.FuseOpsError, match="cannot read schedules from") as raised:
        fuseops.compile_ir(PROGRAM, schedules=missing)
    assert f"--schedules={missing}" in raised.value.command


def test_text_of_the_file_is_in_the_key_of_the_cache(tmp_path: Path):
    path = tmp_path / "schedules.json"

    def key() -> str:
        return cache.entry_key(b"", "source", CompileOptions(schedules=str(path)))

    without = key()
    path.write_text("{}")
    empty = key()
    path.write_text("[]")
    assert len({without, empty, key()}) == 3
