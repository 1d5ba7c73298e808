# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/torch_mlir_e2e without torch-mlir's suite, which CI has no copy of: a suite of the same
shape, written here, passes, fails and dies."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_mlir.fx")

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "test" / "python" / "torch_mlir" / "e2e"


def load(name: str) -> ModuleType:
    """A module of the suite's folder, whose names other folders have, too."""
    spec = importlib.util.spec_from_file_location(f"e2e_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


main, suite = load("main"), load("suite")


def test_names_are_the_claimed_ones():
    counts = {family: len(names) for family, names in suite.read_names().items()}
    assert list(counts.values()) == [38, 6, 24, 10, 38, 63, 350, 170, 157, 187, 1]
    everything = [name for names in suite.read_names().values() for name in names]
    assert len(set(everything)) == len(everything) == 1044


def test_failures_are_claimed_and_have_reasons():
    claimed = {name for names in suite.read_names().values() for name in names}
    for name, reason in suite.read_failures().items():
        assert name in claimed
        assert len(reason) > 10, name


def test_without_the_suite_the_status_is_3(tmp_path: Path):
    command = [sys.executable, str(FOLDER / "main.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stdout.startswith(f"no end-to-end suite in {tmp_path}")


def test_sources_of_a_git_directory_are_extracted(tmp_path: Path):
    checkout, folder = tmp_path / "checkout", tmp_path / "extracted"
    sources = checkout / "projects/pt1/python/torch_mlir_e2e_test"
    version = checkout / "projects/pt1/python/torch_mlir/_version.py"
    for path in (sources / "framework.py", version):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert suite.find_sources(checkout, folder) == sources.parent
    git = ["git", "-C", str(checkout), "-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "t"]):
        subprocess.run([*git, *arguments], check=True)
    folder.mkdir()
    found = suite.find_sources(checkout / ".git", folder)
    assert found == folder / "projects/pt1/python"
    assert (found / "torch_mlir_e2e_test" / "framework.py").exists()


def test_families_are_chosen_by_number():
    families = {name: [] for name in "abcdef"}
    assert list(main.choose(families, "2-3,6")) == ["b", "c", "f"]
    assert main.choose(families, None) == families


@pytest.mark.parametrize(
    ("name", "reason", "verdict"),
    [
        ("a", "", "passed"),
        ("a", "wrong", "failed"),
        ("listed", "wrong", "failed as known"),
        ("listed", "", "passed unexpectedly"),
    ],
)
def test_verdicts(name: str, reason: str, verdict: str):
    assert main.judge(suite.Outcome(name, reason), {"listed": "why"}) == verdict


_FRAMEWORK = """
import abc, traceback
from typing import NamedTuple
import torch

class TraceItem(NamedTuple):
    symbol: str
    inputs: list
    output: object

class TestConfig(abc.ABC):
    pass

class Result(NamedTuple):
    error: str
    got: list
    expected: list

class Test(NamedTuple):
    unique_name: str
    module: object
    inputs: list

def compile_and_run_test(test, config):
    expected = [TraceItem("forward", test.inputs, test.module(*test.inputs))]
    try:
        got = config.run(config.compile(test.module), expected)
    except Exception:
        return Result(traceback.format_exc(), [], [])
    return Result("", got, expected)
"""
_REPORTING = """
import torch

class ErrorContext:
    @staticmethod
    def empty():
        return None

class SingleTestReport:
    def __init__(self, result, context):
        self.result = result
        outputs = [(g.output, e.output) for g, e in zip(result.got, result.expected)]
        self.failed = bool(result.error) or not all(torch.equal(g, e) for g, e in outputs)

    def error_str(self):
        return self.result.error or "values differ"
"""
_TESTS = """
import os
import torch
from torch_mlir_e2e_test.framework import Test
from torch_mlir_e2e_test.registry import GLOBAL_TEST_REGISTRY

def add(name, function, *inputs):
    class Module(torch.nn.Module):
        def forward(self, *args):
            return function(*args)
    GLOBAL_TEST_REGISTRY.append(Test(name, Module(), list(inputs)))

class Die:
    def __call__(self, *inputs):
        os.abort()

class Wrong:
    def __call__(self, *inputs):
        return torch.zeros(2)

x = torch.ones(2)
add("right", lambda x: x + 1, x)
add("refused", lambda x: torch.fft.fft(x).real, x)
GLOBAL_TEST_REGISTRY.append(Test("dies", Die(), [x]))
"""


def test_children_pass_fail_and_die(tmp_path: Path):
    package = tmp_path / "projects/pt1/python/torch_mlir_e2e_test"
    (package / "test_suite").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "framework": _FRAMEWORK,
        "reporting": _REPORTING,
        "registry": "GLOBAL_TEST_REGISTRY = []",
        "test_suite/__init__": "",
        "test_suite/ours": _TESTS,
        "test_suite/other": "import a_package_that_is_nowhere",
    }.items():
        (package / f"{name}.py").write_text(text)
    script = f"""
import sys
sys.path[:0] = [{str(FOLDER)!r}, {str(ROOT / "python")!r}]
from pathlib import Path
import suite
tests = suite.load_tests(suite.find_sources(Path({str(tmp_path)!r}), Path("/nowhere")))
for outcome in suite.run_tests(["right", "refused", "dies", "missing"], tests, "cpu", 2):
    print(outcome.name, "|", outcome.reason)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    outcomes = dict(line.split(" | ") for line in done.stdout.splitlines() if " | " in line)
    assert outcomes["right"].strip() == "", done.stderr
    assert "cannot convert" in outcomes["refused"]
    assert outcomes["dies"] == "died with SIGABRT"
    assert outcomes["missing"] == "the suite has no test of that name"
    assert "left out: other" in done.stderr
