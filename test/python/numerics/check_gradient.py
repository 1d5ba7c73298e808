# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a program's derived backward with finite differences of its own forward.

    .venv/bin/python test/python/numerics/check_gradient.py FILE [--size 3] [--seed 0]

Both run on the reference target, in f64: element by element, the central difference of
sum(forward(x) * dy) has to be what backward(dy) says, to 1e-6. Small sizes only: forward runs
twice for each element of each argument.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import runner

TOLERANCE = 1e-6


def errors(text: str, size: int, seed: int) -> dict[str, float]:
    """For each argument with a gradient, max |gradient - difference| / (|difference| + rms)."""
    program = runner.compile_ir(text, "reference")
    rng = np.random.default_rng(seed)
    arguments = []
    for _, dtype, extents in program.arguments:
        shape = tuple(size if extent is None else extent for extent in extents)
        if dtype == "f64":
            arguments.append(rng.standard_normal(shape))
        else:
            arguments.append(rng.integers(0, 1 << 20, shape).astype(runner.DTYPES[dtype]))
    results, saved = program.forward(*arguments)
    incoming = [rng.standard_normal(r.shape) for r in results]
    gradients = program.gradients(incoming, saved)

    def loss(arrays: list[np.ndarray]) -> float:
        outputs = program.forward(*arrays)[0]
        return sum(float((o * g).sum()) for o, g in zip(outputs, incoming, strict=True))

    found = {}
    for number, gradient in enumerate(gradients):
        if gradient is None:
            continue
        wanted = np.empty(gradient.shape)
        for position in np.ndindex(gradient.shape):
            step = 1e-5 * max(1.0, abs(arguments[number][position]))
            ends = []
            for sign in (1.0, -1.0):
                moved = [a.copy() for a in arguments]
                moved[number][position] += sign * step
                ends.append((loss(moved), moved[number][position]))
            wanted[position] = (ends[0][0] - ends[1][0]) / (ends[0][1] - ends[1][1])
        scale = np.abs(wanted) + np.sqrt(np.mean(wanted**2))
        found[f"arg{number}"] = float(np.max(np.abs(gradient - wanted) / scale))
    return found


def main() -> int:
    """Prints a line for each gradient; 1 if one is off."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = errors(options.file.read_text(), options.size, options.seed)
    for name, error in found.items():
        verdict = "ok" if error <= TOLERANCE else "FAIL"
        print(f"{name}: error {error:.2e}, tolerance {TOLERANCE:.0e}: {verdict}")
    return int(any(error > TOLERANCE for error in found.values()))


if __name__ == "__main__":
    sys.exit(main())
