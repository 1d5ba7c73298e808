# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/aot_program.py: one program file, run from Python and from C."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

# What scripts/setup installs; a bare machine has no `cc`.
CC = "clang-22"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example left its files."""
    return tmp_path_factory.mktemp("aot")


@pytest.mark.parametrize("rows", [1000, 1, 0])
def test_example(folder: Path, rows: int):
    command = [sys.executable, ROOT / "examples" / "aot_program.py", f"--folder={folder}"]
    environment = {**os.environ, "CC": CC, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [*command, f"--rows={rows}"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"from Python, {rows} rows: forward error" in done.stdout
    assert f"from C, {rows} rows: forward error" in done.stdout


def test_c_needs_the_runtime_only(folder: Path):
    test_example(folder, 7)
    needed = subprocess.run(["ldd", folder / "aot_program"], capture_output=True, text=True).stdout
    assert "libfuseops_runtime" in needed
    for absent in ("libfuseops_compiler", "MLIR", "LLVM", "python"):
        assert absent not in needed


@pytest.mark.parametrize(("offset", "reason"), [(0, "invalid program"), (-8, "invalid program")])
def test_c_reports_a_damaged_program(folder: Path, tmp_path: Path, offset: int, reason: str):
    test_example(folder, 7)
    data = bytearray((folder / "bias_gelu.fuseops").read_bytes())
    data[offset] ^= 1
    damaged = tmp_path / "damaged.fuseops"
    damaged.write_bytes(data)
    command = [folder / "aot_program", damaged, "7"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{reason}: "), done.stderr


def test_c_is_warning_free():
    command = [CC, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [*command, f"-I{ROOT / 'include'}", ROOT / "examples" / "aot_program.c"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
