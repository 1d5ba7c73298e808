# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every program of the torch fixtures is right or refused by name; the check itself can fail."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import make_dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "test" / "python" / "fixtures"


def load(name: str) -> ModuleType:
    """A module of the fixtures' folder, whose names other folders have, too."""
    spec = importlib.util.spec_from_file_location(f"fixtures_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def check(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(FOLDER / "check.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.stdout.startswith("skipped: "):
        pytest.skip(done.stdout.removeprefix("skipped: ").strip())
    return done


@pytest.fixture(scope="module")
def everything() -> subprocess.CompletedProcess:
    return check()


def test_every_program_is_right_or_refused_by_name(everything: subprocess.CompletedProcess):
    assert everything.returncode == 0, everything.stdout[-5000:]
    assert "349 cases" in everything.stdout


def test_list_names_each_program():
    done = check("--list", "--only", "rank0/")
    assert done.returncode == 0, done.stdout
    assert "right      rank0/pointwise.raw" in done.stdout


@pytest.mark.parametrize(
    ("got", "expected", "reason"),
    [
        ([1.0, 2.0], [1.0, 2.0], None),
        ([1.0, 2.1], [1.0, 2.0], "expected 2 within"),
        ([1.0, float("nan")], [1.0, 2.0], "expected 0 NaNs, but got 1"),
        ([float("nan"), 2.0], [1.0, float("nan")], "or elsewhere"),
        ([1.0, float("inf")], [1.0, 2.0], "infinities elsewhere"),
        ([1.0, float("-inf")], [1.0, float("inf")], "infinities elsewhere"),
        ([[1.0, 2.0]], [1.0, 2.0], "expected shape (2,)"),
        ([1, 2], [1.0, 2.0], "expected dtype torch.float32"),
        ([1, 2], [1, 3], "1 bytes differ"),
    ],
)
def test_comparison(got: list, expected: list, reason: str | None):
    torch = pytest.importorskip("torch")
    explained = load("compare").explain_difference(torch.tensor(got), torch.tensor(expected), 1e-6)
    assert (explained is None) == (reason is None)
    assert reason is None or reason in explained


def test_tolerance_is_that_of_the_coarsest_dtype():
    pytest.importorskip("torch")
    line = "%1 = torch.aten.relu %0 : !torch.vtensor<[4],bf16> -> !torch.vtensor<[4],f32>"
    assert load("compare").tolerance_of(line) == 5 * 2.0**-7


def test_refusals_are_judged():
    expected, judge = load("expected"), load("check").judge
    sys.modules["expected"] = expected
    outcome = make_dataclass("Outcome", ["name", "verdict", "reason"])
    try:
        listed = expected.REFUSED[0]
        name = listed.programs.replace("*", "x.raw")
        assert judge(outcome(name, "refused", listed.message)) == "refused"
        assert judge(outcome(name, "refused", "for another reason")) == "unexpected"
        assert judge(outcome(name, "right", "")) == "unexpected"
        assert judge(outcome("other/x.raw", "refused", listed.message)) == "unexpected"
        assert judge(outcome("other/x.raw", "right", "")) == "right"
    finally:
        del sys.modules["expected"]
