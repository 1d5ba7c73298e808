# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures schedules of the kernels of all rows into one file (docs/Tuning.md).

A part of scripts/gpu_bench --tune, which then times the rows with that file.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from rows import Case


def tune(
    cases: Iterable[Case],
    schedules: Path,
    target: str,
    env: Mapping[str, str] | None = None,
    candidates: int = 8,
) -> list[str]:
    """Tunes every case at its sizes and prints the measurements. What the file
    has already is not measured again, so that a run that was cut short goes on.
    Returns the faults: candidates that were wrong and programs that were refused."""
    # One schedule serves all sizes of a program.
    programs: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        programs.setdefault((case.name, case.source()), []).append(case)
    faults = []
    for (name, _), same in programs.items():
        sizes = ",".join(str(case.rows) for case in same)
        print(f"tune {name} {'x'.join(map(str, same[0].shape))}, sizes {sizes}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            command = ["fuse-compile", *same[0].write(Path(folder)), f"--target={target}"]
            command += ["--tune", f"--size={sizes}", f"--candidates={candidates}"]
            command += [f"--schedules={schedules}"]
            done = subprocess.run(command, env=env, capture_output=True, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            # Candidates that were refused are among the measurements.
            faults.append(f"{name}: {done.stderr.strip() or done.stdout.strip()}")
    return faults
