# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a program's derived backward with finite differences of its own forward.

    python -m conformance.check_gradient FILE [--size 3] [--seed 0]

Both run on the reference target, in f64: element by element, the central difference of
sum(forward(x) * dy) has to be what backward(dy) says. Small sizes only: forward runs twice for each
element of each argument.
"""

import argparse
import sys
from pathlib import Path

from conformance import checks, runner
from conformance.case import Arg, Case
from conformance.runner import FLOATS


def case_of(text: str, size: int) -> Case:
    """A case of a program that has no oracle."""
    program = runner.compile_ir(text, "reference")
    args = []
    for _, dtype, shape in program.arguments:
        extents = tuple(size if e is None else e for e in shape)
        bounds = None if dtype in FLOATS else (0, 1 << 20)
        args.append(Arg(extents, dtype, range=bounds))
    case = Case(args, [], "", lambda *x: list(x))
    results, _ = program.forward(*case.samples(size, 0))
    case.results = [(tuple(r.shape), runner.name_of(r.dtype)) for r in results]
    return case


def errors(text: str, size: int = 3, seed: int = 0) -> list[str]:
    """What is wrong with a program's gradients."""
    program = runner.compile_ir(text, "reference")
    return checks.differences(case_of(text, size), "reference", size, seed, program)


def main() -> int:
    """Prints what is off; 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = errors(options.file.read_text(), options.size, options.seed)
    for line in found:
        print(f"FAIL {line}")
    print("1 failed" if found else "ok")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
