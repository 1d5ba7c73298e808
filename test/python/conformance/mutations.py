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
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from fuseops import FuseOpsError, emit

from conformance import checks, suite, table
from conformance.case import Case, Shape
from conformance.runner import Checked

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


def objections(mutant: Mutant, case: Case, program: Checked) -> Iterator[tuple[str, str]]:
    """What the suite has against a program: the check and its line."""
    entry = table.TABLE[mutant.op][mutant.variant]
    sizes = (*SIZES, suite.LARGE) if mutant.shape == suite.LONG else SIZES
    for line in checks.values(case, "cpu", sizes, program=program):
        yield "values", line
    for line in checks.kinks(case, "cpu", program=program):
        yield "kinks", line
    if "special" not in entry.excluded and len(case.args[0].shape) == 1:
        for line in checks.special(case, "cpu", entry.excluded, program):
            yield "special", line


def judge(mutant: Mutant) -> tuple[bool, str]:
    """Whether it is caught, and by what."""
    try:
        case = mutant.case()
        intact = emit(case.text(), "ir", compile_to=mutant.phase).decode()
        for check, line in objections(mutant, case, _load(intact)):
            return False, f"the intact program fails: {check}: {line}"
        mutated = mutant.apply(intact)
        if mutated is None:
            return False, "there is nothing to mutate"
        for check, line in objections(mutant, case, _load(mutated)):
            return True, f"{check}: {line}"
    except AssertionError as error:
        return True, str(error)
    except FuseOpsError as error:
        return False, f"refused: {str(error).splitlines()[0]}"
    return False, "no check objects"


def _load(text: str) -> Checked:
    return Checked(emit(text))


BACK = "backward ("
KERNEL = "func.func @forward_0"
BACK_KERNEL = "func.func @backward_0"
POINTWISE = "fuseops.pointwise"
PREDICATES = [("ogt", "oge"), ("oge", "ogt"), ("olt", "ole"), ("ole", "olt")]


def derived(
    kind: str, op: str, variant: str, pattern: str, replacement: str, **more: object
) -> Mutant:
    """A fault in the derived backward."""
    return Mutant(kind, op, variant, "differentiate", pattern, replacement, BACK, **more)


def kernel(
    kind: str, op: str, variant: str, pattern: str, replacement: str, **more: object
) -> Mutant:
    """A fault in the kernel of forward, or `within` another."""
    more.setdefault("within", KERNEL)
    return Mutant(kind, op, variant, "lowering", pattern, replacement, **more)


MUTANTS = [
    # Derivative rules of named operations
    derived("rule of an operation", "fuseops.gelu", "none", r"\(none\)", "(tanh)"),
    derived("rule of an operation", "fuseops.gelu", "tanh", r"\(tanh\)", "(none)"),
    derived("rule of an operation", "fuseops.silu", "", "silu_grad", "relu_grad"),
    derived("rule of an operation", "fuseops.mul", "same", r"fuseops\.mul", "fuseops.add"),
    derived("rule of an operation", "fuseops.scale", "", r"3\.0*e-01", "3.001e-01"),
    derived("rule of an operation", "fuseops.dropout", "0.5", r"5\.0*e-01", "5.01e-01"),
    derived(
        "rule of an operation", "fuseops.linear", "bias", r"reduce_rows sum", "reduce_rows max"
    ),
    derived("rule of an operation", "fuseops.swiglu", "first", r"arith\.subf", "arith.addf"),
    derived("rule of an operation", "fuseops.swiglu", "first", r"%(\d+)#0, %\1#1", r"%\1#1, %\1#0"),
    derived("rule of an operation", "fuseops.layer_norm", "gamma", r"%arg2, %arg3", "%arg3, %arg2"),
    derived(
        "rule of an operation",
        "fuseops.layer_norm",
        "gamma_beta_centered",
        " zero_centered_gamma",
        "",
    ),
    derived(
        "rule of an operation", "fuseops.rms_norm", "gamma_centered", " zero_centered_gamma", ""
    ),
    # Symbolic derivatives of scalars
    derived("scalar rule", POINTWISE, "math.tanh", r"arith\.subf", "arith.addf"),
    derived("scalar rule", POINTWISE, "math.tanh", r"1\.0*e\+00", "1.001e+00"),
    derived("scalar rule", POINTWISE, "math.log", r"arith\.divf", "arith.mulf"),
    derived("scalar rule", POINTWISE, "math.sin", r"math\.cos", "math.sin"),
    derived("scalar rule", POINTWISE, "math.cos", r"arith\.negf|-1\.0*e\+00", "math.absf"),
    derived("scalar rule", POINTWISE, "math.exp2", r"0\.693\d*|6\.93\d*e-01", "6.93e-01"),
    derived("scalar rule", POINTWISE, "math.sqrt", r"5\.0*e-01", "4.999e-01"),
    derived("scalar rule", POINTWISE, "math.atan", r"arith\.addf", "arith.subf"),
    derived("scalar rule", POINTWISE, "math.powf", r"arith\.mulf", "arith.addf"),
    derived("scalar rule", POINTWISE, "arith.divf", r"arith\.divf", "arith.mulf"),
    derived(
        "scalar rule",
        POINTWISE,
        "several",
        r"arith\.select (%\S+), (%\S+), (%\S+) :",
        r"arith.select \1, \3, \2 :",
    ),
    # Kinks, ties and bounds
    derived("tie", POINTWISE, "arith.maximumf", r"5\.0*e-01", "1.0e+00"),
    derived("tie", POINTWISE, "arith.maximumf", "cmpf olt", "cmpf ole"),
    derived(
        "tie",
        "fuseops.reduce_columns",
        "max",
        r"arith\.divf (%\S+), %\S+ :",
        r"arith.addf \1, \1 :",
    ),
    derived("tie", "fuseops.reduce_rows", "max", "cmpf oeq", "cmpf ole"),
    derived("bound", "aten.clamp", "", "cmpf ole", "cmpf olt", shape=(128,)),
    derived("bound", "aten.clamp", "", r"1\.0*e\+00", "1.5e+00", shape=(128,)),
    Mutant("bound", "aten.clamp", "", "differentiate", "cmpf uno", "cmpf ord", shape=(128,)),
    kernel("bound", "fuseops.relu", "", "cmpf o(lt|le|gt|ge)", "cmpf une"),
    kernel("bound", "fuseops.relu_grad", "", "cmpf ole", "cmpf olt"),
    kernel("bound", "fuseops.relu_grad", "", "cmpf ole", "cmpf ule", shape=(128,)),
    # Broadcasts and reductions
    derived(
        "broadcast", "fuseops.mul", "row", r"fuseops\.reduce_rows sum", "fuseops.reduce_rows max"
    ),
    derived(
        "broadcast",
        "fuseops.add",
        "column",
        r"fuseops\.reduce_columns sum",
        "fuseops.reduce_columns max",
    ),
    derived("broadcast", POINTWISE, "several", r"reduce_columns sum", "reduce_columns max"),
    kernel(
        "reduction",
        "fuseops.reduce_columns",
        "sum",
        r"arith\.constant 0\.0*e\+00",
        "arith.constant 1.0e-03",
    ),
    kernel(
        "reduction", "fuseops.reduce_columns", "max", r"arith\.maximumf|maxnumf", "arith.minimumf"
    ),
    kernel("reduction", "fuseops.reduce_rows", "sum", r"arith\.addf", "arith.subf"),
    kernel(
        "norm",
        "fuseops.rms_norm",
        "gamma",
        r"arith\.constant 0\.00999\d*",
        "arith.constant 1.01e-02",
    ),
    # The random mask
    kernel("threshold", "fuseops.dropout", "0.1", r"constant 429496730\b", "constant 433791697"),
    kernel(
        "threshold",
        "fuseops.dropout",
        "0.1",
        r"constant -766435501\b",
        "constant -766435503",
        nth=9,
    ),
    kernel("threshold", "fuseops.dropout", "0.5", r"cmpi uge", "cmpi ult"),
    # Roundings
    kernel(
        "cast",
        "fuseops.cast",
        "bf16",
        r"to bf16(\s+%\S+ = arith\.extf %\S+ :) bf16",
        r"to f16\1 f16",
    ),
    kernel(
        "cast",
        "fuseops.cast",
        "f16",
        r"arith\.truncf (%\S+) : f32 to f16\s+(%\S+) = arith\.extf (%\S+) : f16 to f32",
        r"arith.truncf \1 : f32 to f16\n \2 = arith.addf \1, \1 : f32",
    ),
    # Tails of rows, columns and workers
    kernel("tail", "fuseops.silu", "", r"arith\.constant 33 : i64", "arith.constant 32 : i64"),
    kernel(
        "tail", "fuseops.bias", "", r"arith\.constant 33 : i64", "arith.constant 34 : i64", nth=0
    ),
    kernel("tail", "fuseops.add", "same", r"arith\.minsi", "arith.maxsi", shape=suite.LONG),
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
