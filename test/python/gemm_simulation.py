# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of a product's case on the PTX simulator."""

from __future__ import annotations

import json
from dataclasses import dataclass

import fuseops
import launch_plan
import pytest
from gemm_case import Arrays, Case, read


def emit(program: str, what: str, **options: object) -> str:
    return fuseops.emit(program, what, target="cuda:sm_90a", **options).decode()


@dataclass
class Compiled:
    plan: str
    text: str


def compile_case(case: Case) -> Compiled:
    program = case.program()
    return Compiled(emit(program, "ir", compile_to="lowering"), emit(program, "ptx"))


def count_spills(program: str) -> list[int]:
    """The spilled bytes of each kernel. The test is skipped where no assembler is."""
    report = json.loads(emit(program, "report"))
    kernels = [kernel for entry in report["entries"] for kernel in entry["kernels"]]
    if not all("registers" in kernel for kernel in kernels):
        pytest.skip("no assembler")
    return [kernel["spill_bytes"] for kernel in kernels]


def run_kernels(
    case: Case, compiled: Compiled, given: Arrays, *, late: bool, seed: int = 0
) -> Arrays:
    """What the kernels give for inputs of these bytes."""
    launches = launch_plan.parse(compiled.plan, case.rows)
    found = launch_plan.run_values(
        launches, compiled.text, case.rows, late=late, seed=seed, given=given
    )
    names = launch_plan.find_results(compiled.plan)
    kinds = case.outputs.values()
    return [read(found[name], kind, case.rows) for name, kind in zip(names, kinds, strict=True)]


def simulate(case: Case, compiled: Compiled, *, late: bool, seed: int = 0) -> tuple[Arrays, list]:
    """What the kernels give and what they should."""
    given = case.draw(seed)
    return run_kernels(case, compiled, given, late=late, seed=seed), case.expect(given)
