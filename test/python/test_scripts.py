# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scripts count what happened, and never less."""

import argparse
import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import run_tests
from conftest import ROOT


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path)
    return tmp_path


def pretend(monkeypatch: pytest.MonkeyPatch, reports: Path, name: str, text: str | None) -> None:
    """Makes a suite's runner write this report, or none, and exit with 1."""

    def launch(command: list, **_environment: str) -> subprocess.CompletedProcess:
        if text is not None:
            (reports / name).write_text(text)
        return subprocess.CompletedProcess(command, 1, "output of the runner")

    monkeypatch.setattr(run_tests, "launch", launch)


def counts(suite: run_tests.Suite) -> tuple[int, int, int]:
    return suite.passed, len(suite.failures), len(suite.skips)


def test_lit_codes(monkeypatch: pytest.MonkeyPatch, reports: Path):
    codes = ["PASS", "XFAIL", "FAIL", "XPASS", "TIMEOUT", "UNRESOLVED", "UNSUPPORTED"]
    tests = [{"code": code, "name": f"FuseOps :: {code}", "output": ""} for code in codes]
    pretend(monkeypatch, reports, "lit.json", json.dumps({"tests": tests}))
    assert counts(run_tests.lit("lit")) == (2, 4, 1)


def test_lit_without_tests_fails(monkeypatch: pytest.MonkeyPatch, reports: Path):
    pretend(monkeypatch, reports, "lit.json", json.dumps({"tests": []}))
    assert counts(run_tests.lit("lit")) == (0, 1, 0)


def test_lit_without_report_fails(monkeypatch: pytest.MonkeyPatch, reports: Path):
    pretend(monkeypatch, reports, "lit.json", None)
    suite = run_tests.lit("lit")
    assert suite.failures == [("lit", "output of the runner")]


def test_pytest_outcomes(monkeypatch: pytest.MonkeyPatch, reports: Path):
    cases = "".join(
        f'<testcase classname="c" name="{kind}">{f"<{kind}>x</{kind}>" if kind else ""}</testcase>'
        for kind in ("", "failure", "error", "skipped")
    )
    pretend(monkeypatch, reports, "pytest.xml", f"<testsuites>{cases}</testsuites>")
    assert counts(run_tests.pytest()) == (1, 2, 1)


def test_lint_outcomes(monkeypatch: pytest.MonkeyPatch, reports: Path):
    results = [{"name": n, "passed": n == "a", "output": "", "seconds": 0} for n in "ab"]
    pretend(monkeypatch, reports, "lint.json", json.dumps(results))
    assert counts(run_tests.lint(argparse.Namespace(no_tidy=True))) == (1, 1, 0)


def fake_ctest(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    listing = json.dumps({"tests": [{"command": [program, "--filter=a"]}] * 2})
    done = subprocess.CompletedProcess([], 0, listing, "")
    monkeypatch.setattr(run_tests.subprocess, "run", lambda *_a, **_k: done)


def test_gtest_outcomes(monkeypatch: pytest.MonkeyPatch, reports: Path):
    tests = [
        {"name": "a", "status": "RUN", "result": "COMPLETED"},
        {"name": "b", "status": "RUN", "result": "COMPLETED", "failures": [{"failure": "x"}]},
        {"name": "c", "status": "RUN", "result": "SKIPPED"},
        {"name": "DISABLED_d", "status": "NOTRUN", "result": "SUPPRESSED"},
    ]
    document = {"testsuites": [{"name": "S", "testsuite": tests}]}
    fake_ctest(monkeypatch, "/x/RuntimeTests")
    pretend(monkeypatch, reports, "RuntimeTests.json", json.dumps(document))
    assert counts(run_tests.gtest()) == (1, 1, 2)


def test_gtest_crash_fails(monkeypatch: pytest.MonkeyPatch, reports: Path):
    fake_ctest(monkeypatch, "/x/RuntimeTests")
    pretend(monkeypatch, reports, "RuntimeTests.json", None)
    assert counts(run_tests.gtest()) == (0, 1, 0)


FUSE_RUN = """#!/bin/sh
echo "fuse-run $*"
case "$*" in *bad*) exit 1 ;; esac
"""


BENCHMARK_ROWS = """
class Row:
    name, written_columns = "row", None
    def at(self, rows): return self
    def source(self): return ""
    def checked_source(self): return "!torch.vtensor<[?,64],f32>"
    def write(self, folder, text):
        (folder / "good.mlir").write_text(text)
        return [str(folder / "good.mlir")]


def list_cases(): return [Row()]
"""


def test_gpu_test_counts_each_program_and_size(tmp_path: Path):
    tree = tmp_path / "fuseops"
    cuda = tree / "test" / "Integration" / "CUDA"
    cuda.mkdir(parents=True)
    (tree / "bin").mkdir()
    (tree / "bin" / "fuse-run").write_text(FUSE_RUN)
    (tree / "bin" / "fuse-run").chmod(0o755)
    (tree / "scripts").mkdir()
    (tree / "scripts" / "conformance").write_text("# passes")
    tests = tree / "test" / "python"
    folders = ("torch_backend", "torch_operators", "fp8", "torch_fp8", "random_gemm")
    for test in (*(f"{folder}/test_{folder}.py" for folder in folders), "test_native.py"):
        (tests / test).parent.mkdir(parents=True, exist_ok=True)
        (tests / test).write_text("def test_passes(): pass\n")
    (tree / "good.mlir").write_text("!torch.vtensor<[?,64],f32>")
    (tree / "bad.mlir").write_text("tensor<4x64xf32>")
    (cuda / "run.mlir").write_text("// RUN: fuse-run %s\n// RUN: not fuse-run bad\n")
    (cuda / "checked.mlir").write_text("// RUN: fuse-run %s | FileCheck %s\n")
    (tree / "benchmarks").mkdir()
    (tree / "benchmarks" / "rows.py").write_text(BENCHMARK_ROWS)
    plan = {
        "checks": [{"programs": ["*.mlir"], "sizes": [1, 7]}],
        "benchmarks": {"sizes": [[1], [3], [3, 5]], "tools": ["memcheck"]},
        "sanitizer": {},
    }
    (cuda / "checks.json").write_text(json.dumps(plan))
    with tarfile.open(tmp_path / "fuseops.tar.xz", "w:xz") as archive:
        archive.add(tree, arcname="fuseops")
    shutil.copy2(ROOT / "scripts" / "gpu_test", tmp_path / "gpu_test")
    command = [sys.executable, tmp_path / "gpu_test", "--no-sanitizer"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "12 passed, 1 failed, 1 skipped", done.stdout
    assert "ok   good.mlir size 7" in done.stdout
    assert "ok   benchmark row size 3" in done.stdout
    assert "FAIL bad.mlir" in done.stdout


@pytest.mark.parametrize(
    "script", [["-m", "random_gemm.check", "--help"], ["benchmarks/measure_gemm.py", "--help"]]
)
def test_the_bundle_has_what_its_scripts_import(tmp_path: Path, script: list[str]):
    pytest.importorskip("torch")
    bundle = runpy.run_path(str(ROOT / "scripts" / "gpu_bundle"))
    for folder in bundle["FOLDERS"]:
        if (ROOT / folder).is_dir() and folder.startswith(("test/python", "python", "benchmarks")):
            shutil.copytree(ROOT / folder, tmp_path / folder)
    for file in bundle["FILES"]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, tmp_path / file)
    paths = os.pathsep.join(str(tmp_path / folder) for folder in ("test/python", "python"))
    done = subprocess.run(
        [sys.executable, *script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_output_blocks_of_the_docs_are_filled(tmp_path: Path):
    with_outputs = runpy.run_path(str(ROOT / "scripts" / "gen_docs"))["with_outputs"]
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- output: echo hello -->\n\n```text\nold\n```\nb\n")
    expected = "a\n<!-- output: echo hello -->\n\n```text\nhello\n```\nb\n"
    assert with_outputs(page) == expected


def test_bug_report_holds_command_and_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FUSEOPS_REPORT", str(tmp_path / "report.md"))
    command = ["bash", ROOT / "scripts" / "bug_report.sh", "sh", "-c", "echo out; exit 3"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    report = (tmp_path / "report.md").read_text()
    assert "- exit status: 3" in report
    assert "out" in report
