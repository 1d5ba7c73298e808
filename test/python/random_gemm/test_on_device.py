# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random products on a GPU against f64, in processes: a kernel that faults takes the device
from its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

CASES, PROCESSES = 200, 8
SECONDS = 180


def run_check(seeds: list[int]) -> tuple[str, str]:
    """What it prints, and the last of what it says of errors."""
    folder = Path(__file__).resolve().parents[1]
    paths = [str(folder), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", "random_gemm.check", *map(str, seeds)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as error:
        printed = error.stdout or b""
        printed = printed.decode() if isinstance(printed, bytes) else printed
        return printed, f"no end after {SECONDS} s"
    return done.stdout, done.stderr.strip()[-500:]


def judge(seeds: list[int]) -> tuple[int, list[str]]:
    """How many were right, and what is wrong. What ends a process is held against the seed
    that has no line, and the others begin anew."""
    passed, faults = 0, []
    while seeds:
        printed, said = run_check(seeds)
        judged = re.findall(r"^(ok|FAIL) (\d+)", printed, re.MULTILINE)
        passed += sum(word == "ok" for word, _ in judged)
        faults += re.findall(r"^FAIL .*?(?=^ok |^FAIL |\Z)", printed, re.MULTILINE | re.DOTALL)
        seeds = seeds[len(judged) :]
        if seeds:
            faults.append(f"FAIL {seeds.pop(0)}: {said}")
    return passed, faults


@pytest.mark.skipif(
    os.environ.get("FUSEOPS_TEST_DEVICE") != "cuda",
    reason="needs a GPU, and FUSEOPS_TEST_DEVICE=cuda",
)
def test_random_products() -> None:
    parts = [list(range(first, CASES, PROCESSES)) for first in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        found = list(pool.map(judge, parts))
    faults = [fault for _, some in found for fault in some]
    assert not faults, "\n".join(faults)
    assert sum(passed for passed, _ in found) == CASES
