#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles ahead of time, then runs the program file from Python and from C.

    examples/aot_program.py [--rows N] [--folder FOLDER]

The program is examples/bias_gelu.mlir. What is compiled is one file, which needs
no compiler where it runs: C code links libfuseops_runtime alone. Needs NumPy and a
C compiler (`cc`, or what CC names).
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import fuseops
import numpy as np

HERE = Path(__file__).resolve().parent


def compile_ahead(path: Path) -> None:
    """Compiles for any CPU with AVX2, not only for this one, and saves it."""
    program = fuseops.compile_ir(HERE / "bias_gelu.mlir", target="cpu:x86-64-v3")
    program.save(path)
    print(f"{path}: {path.stat().st_size} bytes, arguments {program.arguments}")


def run_from_python(path: Path, rows: int) -> None:
    """Loads the file, runs forward and backward, and compares with NumPy."""
    program = fuseops.Program.load(path)
    random = np.random.default_rng(0)
    x, dy = random.standard_normal((2, rows, 256), np.float32)
    bias = random.standard_normal(256, np.float32)
    (y,), context = program.forward(x, bias)
    dx, dbias = context.backward(dy)

    s = x.astype(np.float64) + bias
    phi = (1 + np.vectorize(math.erf, otypes=[np.float64])(s / math.sqrt(2))) / 2
    slope = phi + s * np.exp(-s * s / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(y, s * phi, atol=1e-5)
    np.testing.assert_allclose(dx, dy * slope, atol=1e-5)
    np.testing.assert_allclose(dbias, (dy * slope).sum(axis=0), atol=1e-5 * max(rows, 1))
    error = np.abs(y - s * phi).max(initial=0)
    print(f"{program.name} from Python, {rows} rows: forward error {error:.1e}")


def run_from_c(path: Path, rows: int) -> None:
    """Builds examples/aot_program.c on the C ABI, and runs the file with it."""
    executable = path.with_name("aot_program")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    source = str(HERE / "aot_program.c")
    build = [*compiler, "-O2", "-std=c11", source, *fuseops.c_flags(), "-lm", "-o", str(executable)]
    print(shlex.join(build))
    subprocess.run(build, check=True)
    subprocess.run([executable, path, str(rows)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="where to leave the files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.folder or Path(temporary)) / "bias_gelu.fuseops"
        compile_ahead(path)
        run_from_python(path, options.rows)
        run_from_c(path, options.rows)


if __name__ == "__main__":
    main()
