# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/full_checks runs each piece once, and believes no piece that did not end well."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from shard import part_of

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "full_checks"


@pytest.fixture(scope="module")
def full_checks() -> ModuleType:
    loader = SourceFileLoader("full_checks", str(SCRIPT))
    module = module_from_spec(spec_from_loader("full_checks", loader))
    # Its dataclasses look their module up.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "full_checks", module)
        loader.exec_module(module)
    return module


def run(full_checks: ModuleType, folder: Path, code: str, seconds: float = 30) -> dict | None:
    folder.mkdir(exist_ok=True)
    script = folder / "piece.py"
    script.write_text(code)
    piece = full_checks.Piece("check", "0", (str(script),))
    record = full_checks.Record(folder, "build")
    return full_checks.run(piece, record, dict(os.environ), time.monotonic() + seconds)


@pytest.mark.parametrize(
    ("code", "failed", "broken"),
    [
        ("print('noise\\n3 passed, 1 excluded, 0 failed')", 0, False),
        ("print('3 passed, 2 failed'); raise SystemExit(1)", 2, False),
        # No summary, one that is not the end, and a status that says otherwise.
        ("print('3 passed, 0 failed in 2 s')", 0, True),
        ("print('3 passed, 0 failed'); raise ValueError", 0, True),
        ("print('3 passed, 0 failed', flush=True); import os; os.abort()", 0, True),
        ("print('3 passed, 2 failed')", 2, True),
    ],
)
def test_piece(
    full_checks: ModuleType, tmp_path: Path, code: str, failed: int, broken: bool
) -> None:
    entry = run(full_checks, tmp_path, code)
    assert (entry["failed"], entry["broken"]) == (failed, broken)
    assert json.loads((tmp_path / "pieces.jsonl").read_text()) == entry
    record = full_checks.Record(tmp_path, "build")
    plan = {"check": [full_checks.Piece("check", "0", ())]}
    assert full_checks.report(plan, record) == (1 if failed or broken else 0)
    # One piece more is left to run.
    plan["check"].append(full_checks.Piece("check", "1", ()))
    assert full_checks.report(plan, record) == (1 if failed or broken else 3)


def test_piece_whose_time_is_over_is_left(full_checks: ModuleType, tmp_path: Path) -> None:
    start = time.monotonic()
    child = "import subprocess, sys, time; subprocess.run([sys.executable, '-c', CODE])"
    sleep = "import os, time; open('PID', 'w').write(str(os.getpid())); time.sleep(100)"
    code = f"CODE = {sleep.replace('PID', str(tmp_path / 'pid'))!r}\n{child}"
    assert run(full_checks, tmp_path, code, seconds=8) is None
    assert time.monotonic() - start < 60
    assert not (tmp_path / "pieces.jsonl").exists()
    # What it had started has ended too.
    number = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not Path(f"/proc/{number}").exists() or "Z" in _state(number):
            return
        time.sleep(0.1)
    pytest.fail("a process of the piece goes on")


def _state(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_results_of_another_build_are_refused(full_checks: ModuleType, tmp_path: Path) -> None:
    run(full_checks, tmp_path, "print('1 passed, 0 failed')")
    with pytest.raises(SystemExit, match="another build"):
        full_checks.Record(tmp_path, "other")


def test_pieces_are_all_seeds(full_checks: ModuleType) -> None:
    options = argparse.Namespace(programs=620, bin=Path("bin"))
    pieces = list(full_checks.pieces("random-cuda", options))
    words = [dict(zip(p.command[1::2], p.command[2::2], strict=False)) for p in pieces]
    assert [int(w["--count"]) for w in words] == [250, 250, 120]
    assert int(words[1]["--seed"]) == int(words[0]["--seed"]) + 250
    assert {w["--target"] for w in words} == {"cuda"}


@pytest.mark.parametrize("text", ["2/2", "-1/3", "a/b", "1", "1/"])
def test_no_part(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected a number below"):
        part_of(text)
