# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A few of scripts/random_programs.py's programs agree with the reference."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "random_programs.py"


def test_random_programs_agree_with_the_reference() -> None:
    run = subprocess.run(
        [sys.executable, SCRIPT, "--seed", "0", "--count", "20"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1] == "20 passed, 0 failed"


def test_a_seed_is_one_program() -> None:
    texts = {
        subprocess.run(
            [sys.executable, SCRIPT, "--seed", "7", "--count", "1", "--print"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    }
    assert len(texts) == 1
    assert "fuseops.fusible @main" in texts.pop()
