# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every suite that needs no GPU and sums up.

Each suite writes a report in its own format; only those are counted, never
what a runner prints. A suite that leaves no report counts as one failure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "dev"
REPORTS = ROOT / "build" / "reports"
LLVM_BIN = Path(os.environ.get("LLVM_BIN", "/usr/lib/llvm-22/bin"))


@dataclass
class Suite:
    """The results of one suite."""

    name: str
    passed: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    skips: list[tuple[str, str]] = field(default_factory=list)

    def fail(self, test: str, output: str) -> None:
        self.failures.append((test, output))


def launch(command: list[str | Path], **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(c) for c in command],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def fresh(name: str) -> Path:
    """The path of a report, with nothing there from an earlier run."""
    path = REPORTS / name
    path.unlink(missing_ok=True)
    return path


def lint(options: argparse.Namespace) -> Suite:
    suite = Suite("lint")
    report = fresh("lint.json")
    arguments = ["--no-tidy"] if options.no_tidy else []
    done = launch([sys.executable, "scripts/lint", "--json", report, *arguments])
    if not report.exists():
        suite.fail("lint", done.stdout)
        return suite
    for result in json.loads(report.read_text()):
        if result["passed"]:
            suite.passed += 1
        else:
            suite.fail(result["name"], result["output"])
    return suite


LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def lit(name: str, **environment: str) -> Suite:
    suite = Suite(name)
    report = fresh(f"{name}.json")
    jobs = os.environ.get("FUSEOPS_JOBS", str(os.cpu_count()))
    # The venv's Python has psutil, which lit's time limit needs.
    command = [
        sys.executable,
        LLVM_BIN / "lit",
        "-q",
        "-j",
        jobs,
        "--timeout",
        "300",
        "-o",
        report,
        BUILD / "test",
    ]
    done = launch(command, **environment)
    if not report.exists():
        suite.fail("lit", done.stdout)
        return suite
    tests = json.loads(report.read_text())["tests"]
    if not tests:
        suite.fail("lit", "no test was found")
    for test in tests:
        if test["code"] in LIT_PASSED:
            suite.passed += 1
        elif test["code"] in LIT_SKIPPED:
            missing = re.search(r"requires .*", test["output"])
            reason = missing[0] if missing else "unsupported on this machine"
            if "/CUDA/" in test["name"]:
                reason = "no CUDA device here (scripts/gpu_test runs it)"
            suite.skips.append((test["name"], reason))
        else:
            suite.fail(f"{test['code']} {test['name']}", test["output"])
    return suite


def gtest() -> Suite:
    """The unit tests: every executable that ctest knows of, in one run each."""
    suite = Suite("gtest")
    listing = subprocess.run(
        ["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"], capture_output=True, text=True
    )
    if listing.returncode:
        suite.fail("ctest", listing.stdout + listing.stderr)
        return suite
    programs = {
        test["command"][0] for test in json.loads(listing.stdout)["tests"] if "command" in test
    }
    if not programs:
        suite.fail("ctest", "no unit test was found")
    for program in sorted(programs):
        name = Path(program).name
        report = fresh(f"{name}.json")
        try:
            done = launch([program, f"--gtest_output=json:{report}"])
        except OSError as error:
            suite.fail(name, str(error))
            continue
        if not report.exists():
            suite.fail(name, f"exit status {done.returncode}, no report\n{done.stdout[-4000:]}")
            continue
        failures = len(suite.failures)
        # The report does not hold why a test skipped itself; the output does.
        reasons = {
            test: reason.strip()
            for reason, test in re.findall(
                r": Skipped\n([^\[]*)\n\[  SKIPPED \] (\S+)", done.stdout
            )
        }
        for group in json.loads(report.read_text())["testsuites"]:
            for test in group["testsuite"]:
                full = f"{name}: {group['name']}.{test['name']}"
                if test.get("failures"):
                    suite.fail(full, "\n".join(f["failure"] for f in test["failures"]))
                elif test["result"] == "SKIPPED" or test["status"] == "NOTRUN":
                    reason = reasons.get(f"{group['name']}.{test['name']}", "no reason given")
                    suite.skips.append((full, reason))
                else:
                    suite.passed += 1
        if done.returncode and len(suite.failures) == failures:
            suite.fail(name, f"exit status {done.returncode}\n{done.stdout[-4000:]}")
    return suite


def pytest() -> Suite:
    suite = Suite("pytest")
    report = fresh("pytest.xml")
    done = launch([sys.executable, "-m", "pytest", f"--junitxml={report}"])
    if not report.exists():
        suite.fail("pytest", done.stdout)
        return suite
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        fault = case.find("failure")
        fault = case.find("error") if fault is None else fault
        skipped = case.find("skipped")
        if fault is not None:
            suite.fail(name, fault.text or fault.get("message") or "")
        elif skipped is not None:
            suite.skips.append((name, skipped.get("message") or "skipped"))
        else:
            suite.passed += 1
    if done.returncode and not suite.failures:
        suite.fail("pytest", done.stdout)
    return suite


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="SUITE", help="run the suites whose name contains SUITE")
    parser.add_argument("--no-tidy", action="store_true", help="leave out clang-tidy, the slow one")
    options = parser.parse_args()
    REPORTS.mkdir(parents=True, exist_ok=True)

    runners = {
        "lint": lambda: lint(options),
        "lit": lambda: lit("lit"),
        "lit-roundtrip": lambda: lit("lit-roundtrip", FUSEOPS_ROUNDTRIP="1"),
        "gtest": gtest,
        "pytest": pytest,
    }
    suites = []
    for name, runner in runners.items():
        if options.only and options.only not in name:
            continue
        start = time.monotonic()
        suite = runner()
        suites.append(suite)
        for test, output in suite.failures:
            print(f"FAIL {name}: {test}\n{output.rstrip()[-6000:]}\n")
        counts = f"{suite.passed} passed, {len(suite.failures)} failed"
        if suite.skips:
            counts += f", {len(suite.skips)} skipped"
        # Not alone on its line: only the last line is the sum.
        print(f"-- {name}: {counts} ({time.monotonic() - start:.1f} s)", flush=True)

    passed = sum(s.passed for s in suites)
    failed = sum(len(s.failures) for s in suites)
    skips = Counter((s.name, reason) for s in suites for _, reason in s.skips)
    for (name, reason), count in sorted(skips.items()):
        print(f"-- skipped {count} of {name}: {reason}")
    for suite in suites:
        for test, _ in suite.failures:
            print(f"-- failed: {suite.name}: {test}")
    skipped = sum(skips.values())
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
