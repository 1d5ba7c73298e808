# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proves that the suite fails when a rule is wrong.

Each mutant is a program of the table with one fault put into it between two phases of the compiler:
into the derived program (a wrong derivative, a wrong reduction of a broadcast) or into its kernels
(a bound, a tie, a threshold, a rounding, a tail). The mutated program goes through the rest of the
compiler and through the suite's own checks, and at least one of them has to object. The program
without the fault has to pass the same way.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import checks
import runner
import table
import torch
from case import Case, Shape
from runner import Checked

from fuseops import FuseOpsError, emit

SIZES = (7, 33)


@dataclass(frozen=True)
class Mutant:
    """The `nth` match of `pattern` in the IR after `phase`, replaced. `within` starts the part of
    the IR that is searched."""

    kind: str
    op: str
    variant: str
    phase: str
    pattern: str
    replacement: str
    within: str = ""
    nth: int = 0
    dtype: str = "f32"
    shape: Shape = ("M", 33)

    def __str__(self) -> str:
        where = f"{self.op} {self.variant}".strip()
        return f"{self.kind}: {where} {self.dtype}: {self.pattern} -> {self.replacement}"

    def case(self) -> Case:
        """The case of the table."""
        return table.TABLE[self.op][self.variant].build(self.shape, self.dtype)

    def apply(self, text: str) -> str | None:
        """The mutated IR; None where there is nothing to mutate."""
        start = text.find(self.within) if self.within else 0
        if start < 0:
            return None
        matches = list(re.finditer(self.pattern, text[start:]))
        if self.nth >= len(matches):
            return None
        match = matches[self.nth]
        first, last = start + match.start(), start + match.end()
        return text[:first] + match.expand(self.replacement) + text[last:]


def objections(case: Case, op: str, variant: str, program: Checked) -> Iterator[tuple[str, str]]:
    """What the suite has against a program: the check and its line."""
    entry = table.TABLE[op][variant]
    for line in checks.values(case, "cpu", SIZES, program=program):
        yield "values", line
    for line in checks.kinks(case, "cpu", program=program):
        yield "kinks", line
    if "special" not in entry.excluded and len(case.args[0].shape) == 1:
        signs = "sign of zero" not in entry.excluded
        for line in checks.special(case, "cpu", True, signs, program):
            yield "special", line


def judge(mutant: Mutant) -> tuple[bool, str]:
    """Whether it is caught, and by what."""
    try:
        case = mutant.case()
        intact = emit(case.text(), "ir", compile_to=mutant.phase).decode()
        for check, line in objections(case, mutant.op, mutant.variant, _load(intact)):
            return False, f"the intact program fails: {check}: {line}"
        mutated = mutant.apply(intact)
        if mutated is None:
            return False, "there is nothing to mutate"
        for check, line in objections(case, mutant.op, mutant.variant, _load(mutated)):
            return True, f"{check}: {line}"
    except AssertionError as error:
        return True, str(error)
    except FuseOpsError as error:
        return False, f"refused: {str(error).splitlines()[0]}"
    return False, "no check objects"


def _load(text: str) -> Checked:
    return Checked(emit(text))


BACK = "backward ("
TREE = "func.func @backward_0"
MUTANTS = [
    # Derivative rules of named operations
    Mutant("derivative", "fuseops.gelu", "none", "differentiate", r"\(none\)", "(tanh)", BACK),
    Mutant("derivative", "fuseops.gelu", "tanh", "differentiate", r"\(tanh\)", "(none)", BACK),
    Mutant("derivative", "fuseops.silu", "", "differentiate", "silu_grad", "relu_grad", BACK),
    Mutant(
        "derivative", "fuseops.mul", "same", "differentiate", r"fuseops\.mul", "fuseops.add", BACK
    ),
    Mutant("derivative", "fuseops.scale", "", "differentiate", r"3\.0*e-01", "3.001e-01", BACK),
]
MUTANTS += [
    # Symbolic derivatives of scalars
    Mutant("scalar derivative", "fuseops.pointwise", f"math.{name}", "differentiate", *rule)
    for name, rule in [
        ("tanh", (r"arith\.subf", "arith.addf", BACK)),
        ("tanh", (r"1\.000000e\+00", "1.010000e+00", BACK)),
        ("log", (r"arith\.divf", "arith.mulf", BACK)),
        ("sin", (r"math\.cos", "math.sin", BACK)),
        ("cos", (r"arith\.negf|-1\.000000e\+00", r"math.absf", BACK)),
        ("exp2", (r"0\.693\d*|6\.93\d*e-01", "6.9e-01", BACK)),
        ("sqrt", (r"5\.0*e-01", "4.990000e-01", BACK)),
        ("atan", (r"arith\.addf", "arith.subf", BACK)),
    ]
]


def main() -> int:
    """The command scripts/check_mutations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="mutants whose line contains this")
    options = parser.parse_args()
    torch.set_num_threads(1)
    start, caught, missed = time.monotonic(), 0, 0
    for mutant in MUTANTS:
        if options.only in str(mutant):
            ok, why = judge(mutant)
            caught, missed = caught + ok, missed + (not ok)
            print(f"{'caught' if ok else 'MISSED'} {mutant}\n       {why}", flush=True)
    print(f"{caught} caught, {missed} missed, {time.monotonic() - start:.0f} s")
    return 1 if missed or not caught else 0


if __name__ == "__main__":
    sys.exit(main())
