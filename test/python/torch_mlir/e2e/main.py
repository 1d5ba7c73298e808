# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs torch-mlir's own end-to-end tests against fuseops.torch_mlir and prints a table.

A test that fails, or passes although failures.txt names it, makes the command fail. It exits with
3 where CHECKOUT has no suite or a package is missing.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import tempfile
import textwrap
import time
import warnings
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
DOCS = ROOT / "docs" / "torch-mlir-e2e.md"
NO_SUITE = 3
COLUMNS = ("tests", "passed", "failed as known", "failed", "passed unexpectedly")


def judge(outcome: object, failures: dict[str, str]) -> str:
    """One of the columns after `tests`."""
    if outcome.name in failures:
        return "failed as known" if outcome.reason else "passed unexpectedly"
    return "failed" if outcome.reason else "passed"


def print_table(counts: dict[str, dict[str, int]]) -> None:
    widths = [len(column) + 2 for column in COLUMNS]
    print(f"{'family':<20}" + "".join(f"{c:>{w}}" for c, w in zip(COLUMNS, widths, strict=True)))
    for family, row in counts.items():
        cells = zip(COLUMNS, widths, strict=True)
        print(f"{family:<20}" + "".join(f"{row[c]:>{w}}" for c, w in cells))


def write_docs(
    counts: dict[str, dict[str, int]], failures: dict[str, str], revision: str, target: str
) -> None:
    """Writes the table and the reasons to docs/torch-mlir-e2e.md."""
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("torch", "torch-mlir"))
    text = (
        f"Written by `scripts/torch_mlir_e2e CHECKOUT --write-docs` on {date.today()}: "
        f"llvm/torch-mlir {revision}, {versions}, target `{target}`. These are the tests that are "
        "in reach of FuseOps, by family: all their operations are fusible ones, and no dtype is "
        "complex or quantized."
    )
    lines = [
        "# torch-mlir's end-to-end suite",
        "",
        textwrap.fill(text, 80, break_on_hyphens=False),
        "",
        "| family | tests | passed | failed |",
        "| --- | --: | --: | --: |",
    ]
    for family, row in counts.items():
        failed = row["tests"] - row["passed"] - row["passed unexpectedly"]
        passed = row["passed"] + row["passed unexpectedly"]
        lines.append(f"| {family} | {row['tests']} | {passed} | {failed} |")
    if failures:
        lines += ["", "## What fails, and why", "", "| test | reason |", "| --- | --- |"]
        lines += [f"| {name} | {reason} |" for name, reason in failures.items()]
    DOCS.write_text("\n".join(lines) + "\n")


def choose(families: dict[str, list[str]], given: str | None) -> dict[str, list[str]]:
    """The families named by `given`: numbers from 1 and ranges, `1-6,8`; all without it."""
    if given is None:
        return families
    chosen = set()
    for part in given.split(","):
        first, _, last = part.partition("-")
        chosen.update(range(int(first), int(last or first) + 1))
    return {f: n for i, (f, n) in enumerate(families.items(), 1) if i in chosen}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/torch_mlir_e2e", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout or git directory of torch-mlir")
    parser.add_argument("--family", help="numbers of families, such as 1-6 or 7,9; else all")
    parser.add_argument("--only", default="", help="part of the names of the tests to run")
    parser.add_argument("--target", default="cpu", help="cpu or cuda")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print every test")
    parser.add_argument("--write-docs", action="store_true", help="write docs/torch-mlir-e2e.md")
    options = parser.parse_args()
    sys.path[:0] = [str(HERE), str(ROOT / "python")]
    import suite  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        sources = suite.find_sources(options.checkout, Path(folder))
        if sources is None:
            print(f"no end-to-end suite in {options.checkout}: expected {suite.SOURCES[0]}")
            return NO_SUITE
        try:
            tests = suite.load_tests(sources)
        except ImportError as error:
            print(f"cannot load the end-to-end suite: {error}")
            return NO_SUITE
        warnings.filterwarnings("ignore")
        start = time.monotonic()
        suite.warm_up(options.target)
        failures = suite.read_failures()
        families = choose(suite.read_names(), options.family)
        counts: dict[str, dict[str, int]] = {}
        seen: dict[str, str] = {}
        for family, claimed in families.items():
            row = counts[family] = dict.fromkeys(COLUMNS, 0)
            names = [name for name in claimed if options.only in name]
            outcomes = suite.run_tests(names, tests, options.target, options.jobs)
            for outcome in outcomes:
                verdict = judge(outcome, failures)
                row["tests"] += 1
                row[verdict] += 1
                if outcome.reason:
                    seen[outcome.name] = failures.get(outcome.name, outcome.reason)
                if options.list or verdict not in ("passed", "failed as known"):
                    print(f"{verdict}: {outcome.name}: {outcome.reason}".rstrip(": "), flush=True)
        counts["all"] = {c: sum(row[c] for row in counts.values()) for c in COLUMNS}
        print_table(counts)
        print(f"{time.monotonic() - start:.0f} s")
        if options.write_docs:
            write_docs(counts, seen, suite.revision(options.checkout), options.target)
    bad = counts["all"]["failed"] + counts["all"]["passed unexpectedly"]
    return 1 if bad or not counts["all"]["tests"] else 0


if __name__ == "__main__":
    sys.exit(main())
