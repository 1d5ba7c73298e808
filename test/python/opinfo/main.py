# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of scripts/check_opinfo."""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from shard import add_shard

from opinfo.cases import DTYPES
from opinfo.report import Report
from opinfo.runner import SUITE, Settings, claimed_operations, default_jobs, default_names, run


def main(arguments: list[str], root: Path) -> int:
    """Runs the samples and prints the tables; 1 if a sample failed."""
    parser = argparse.ArgumentParser(
        prog="check_opinfo",
        description="Compares the compiled samples of PyTorch's operator database with eager "
        "PyTorch, forward and backward, on the CPU.",
    )
    parser.add_argument("--ops", default=".*", help="regular expression of operators")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="comma-separated")
    parser.add_argument("--samples", type=int, default=40, help="per operator, dtype and list")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    add_shard(parser)
    parser.add_argument("--fuse-opt", type=Path, default=root / "build/dev/bin/fuse-opt")
    parser.add_argument("--no-backward-graph", action="store_true")
    parser.add_argument("--json", type=Path, help="writes all outcomes")
    parser.add_argument("--failures", type=Path, help="writes the failures")
    parser.add_argument(
        "--record", action="store_true", help="runs what the tests run and records its operations"
    )
    parser.add_argument("--quiet", action="store_true", help="no tables")
    options = parser.parse_args(arguments)

    claimed = claimed_operations(options.fuse_opt)
    settings = Settings(
        dtypes=tuple(options.dtypes.split(",")),
        limit=options.samples,
        backward_graphs=() if options.no_backward_graph else tuple(DTYPES),
        claimed=claimed,
        fuse_opt=options.fuse_opt,
    )
    if options.record:
        settings = replace(SUITE, claimed=claimed, fuse_opt=options.fuse_opt)
    index, count = options.shard
    names = [name for name in default_names() if re.fullmatch(options.ops, name)][index::count]
    start = time.monotonic()
    report = Report(claimed)
    for outcome in run(names, settings, options.jobs):
        report.add(outcome)
        if outcome.status == "failed":
            print(f"{outcome.case}: {outcome.reason}", file=sys.stderr, flush=True)
    if options.record:
        report.record()
    if options.json:
        report.write(options.json)
    if options.failures:
        options.failures.write_text(report.failures_text() + "\n")
    if not options.quiet:
        print(report.text())
    seconds = time.monotonic() - start
    print(f"\n{len(report.outcomes)} samples of {len(names)} operators in {seconds:.0f} s")
    counts = [report.count(status) for status in ("passed", "excluded", "failed")]
    print(f"{counts[0]} passed, {counts[1]} excluded, {counts[2]} failed")
    return 1 if report.failures else 0
