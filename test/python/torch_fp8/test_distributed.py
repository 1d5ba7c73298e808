# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Amaxes of several processes, and DDP and FSDP2, on the CPU with gloo."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("distributed_worker.py")
WORLD = 2


@pytest.mark.parametrize("case", ["all", "group", "none", "ddp", "fsdp2"])
def test_two_processes(case: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", str(WORKER), case]
    store = str(tmp_path / "store")
    workers = [
        subprocess.Popen(
            [*command, str(rank), str(WORLD), store],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(WORLD)
    ]
    try:
        outputs = [worker.communicate(timeout=240)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    for rank, (worker, output) in enumerate(zip(workers, outputs, strict=True)):
        assert worker.returncode == 0, output[-5000:]
        assert f"rank {rank}: done" in output
