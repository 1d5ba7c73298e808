# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every Llama and GPT MLP that torch-mlir printed, in all forms: forward and
every gradient on the CPU agree with the unfused f64 reference."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FUSE_RUN = ROOT / "build" / "dev" / "bin" / "fuse-run"
BLOCKS = ROOT / "test" / "Fixtures" / "torch" / "blocks"
SIZES = [0, 1, 7, 128, 513]


def cases() -> list[tuple[str, int | None]]:
    """Each file, a dynamic one at each size."""
    files = sorted(path.name for path in BLOCKS.glob("*.mlir"))
    return [(name, size) for name in files for size in (SIZES if "dynamic" in name else [None])]


def test_all_files_are_there() -> None:
    assert len(list(BLOCKS.glob("*.mlir"))) == 44


@pytest.mark.parametrize(("name", "size"), cases())
def test_block(name: str, size: int | None) -> None:
    command = [FUSE_RUN, BLOCKS / name, "--target=cpu", "--check"]
    if size is not None:
        command.append(f"--size={size}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("check: ok")
    assert "backward  grad_arg0" in done.stdout
