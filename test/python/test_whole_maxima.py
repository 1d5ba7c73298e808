# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a row kernel for CUDA reduces to one element of the whole matrix, whatever
threads and rows a block has, and whether blocks share a row or keep a sum of columns
beside it. The kernels run on the PTX simulator; a maximum is exact."""

from __future__ import annotations

import re
from dataclasses import dataclass

import fuseops
import launch_plan
import numpy as np
import ptx_simulator as ptx
import pytest
from launch_plan import Launch

# The largest magnitude lies where `relu` has zero, in a row and column of its own.
PROGRAM = """
fuseops.fusible @main(%x: !x) -> (!x, tensor<f32>WIDE_TYPE)
attributes {frozen_results = array<i64: 0, 1WIDE_NUMBER>}
forward {
  %y = fuseops.relu %x : !x
  %a = fuseops.amax %x : !x -> tensor<f32>WIDE
  fuseops.return %y, %aWIDE_VALUE : !x, tensor<f32>WIDE_TYPE
}
"""
WIDE = {
    "WIDE_TYPE": ", tensor<COLUMNSxbf16>",
    "WIDE_NUMBER": ", 2",
    "WIDE_VALUE": ", %s",
    "WIDE": "\n  %s = fuseops.reduce_rows max %x : !x -> tensor<COLUMNSxbf16>",
}


@dataclass
class Case:
    rows: int
    columns: int
    schedule: str = ""
    is_wide: bool = True
    """Whether each column has a result of its own."""


CASES = {
    # Blocks share a row: each leaves a result.
    "tiles": Case(37, 520),
    "tiles of few threads": Case(37, 520, "rows = 4, threads = 16, tiles = 5, workers = 15"),
    "a warp a row": Case(37, 520, "rows = 2, threads = 32, tiles = 1"),
    "two warps a row": Case(37, 520, "rows = 1, threads = 64, tiles = 1"),
    "two rows of several warps": Case(37, 520, "rows = 2, threads = 128, tiles = 1"),
    # Three parts of 16 threads combine their values by shuffles.
    "no whole warp": Case(37, 520, "rows = 3, threads = 16, tiles = 1"),
    "one row": Case(1, 520),
    "odd columns": Case(37, 7),
    "alone": Case(37, 520, is_wide=False),
    "alone, of one row": Case(1, 520, is_wide=False),
    "alone, of several warps": Case(37, 520, "rows = 2, threads = 128", is_wide=False),
    # A row that is walked in a loop, with vectors that are left over.
    "alone, in a loop": Case(5, 2056, "rows = 2, threads = 16", is_wide=False),
    "alone, in a loop of one visit": Case(
        5, 2056, "rows = 2, threads = 16, unroll = 1", is_wide=False
    ),
}


def emit(program: str, what: str, **options: object) -> str:
    return fuseops.emit(program, what, target="cuda:sm_90a", **options).decode()


def compile_case(case: Case) -> tuple[str, list[Launch], str]:
    """The plan of a case, its launches, and their kernels."""
    program = "!x = tensor<?xCOLUMNSxbf16>\n" + PROGRAM
    for key, text in WIDE.items():
        program = program.replace(key, text if case.is_wide else "")
    program = program.replace("COLUMNS", str(case.columns))
    program = emit(program, "ir", compile_to="fusion")
    if case.schedule:
        keys = re.sub(r"(= \d+)", r"\1 : i64", case.schedule)
        program, count = re.subn(r"(@\w+ row_column) \(", rf"\1 schedule {{{keys}}} (", program)
        assert count == 1
    plan = emit(program, "ir", compile_to="lowering")
    return plan, launch_plan.parse(plan, case.rows), emit(program, "ptx")


def check(case: Case, place: tuple[int, int], seed: int = 0, number: float = -77.0) -> None:
    """With the largest magnitude at one place."""
    plan, launches, text = compile_case(case)
    generator = np.random.default_rng(seed)
    x = generator.integers(-64, 65, (case.rows, case.columns)).astype(np.float32)
    x[place] = number
    given = [(x.view(np.uint32) >> 16).astype(np.uint16).reshape(-1).view(np.uint8)]
    values = launch_plan.run_values(launches, text, case.rows, late=True, seed=seed, given=given)
    results = [values[name] for name in launch_plan.find_results(plan)]
    np.testing.assert_array_equal(results[1].view(np.float32), [np.abs(x).max()])
    if case.is_wide:
        columns = (results[2].view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        np.testing.assert_array_equal(columns, x.max(0))


@pytest.mark.parametrize("name", CASES)
def test_one_of_the_whole_matrix(name: str):
    """Of the first and of the last element, and of a NaN."""
    case = CASES[name]
    check(case, (0, 0))
    check(case, (-1, -1), seed=1)
    check(case, (case.rows // 2, case.columns // 2), number=np.nan)


def test_no_row_waits_for_another():
    """The threads of a block meet at its end, not in the loop over its rows."""
    _, launches, text = compile_case(CASES["alone, of several warps"])
    kernel = ptx.parse(text, launches[0].name)
    operations = [(operation, arguments) for _, operation, arguments in kernel.code]
    barriers = [i for i, (operation, _) in enumerate(operations) if operation == "bar.sync"]
    loops = [
        range(kernel.labels[arguments[0]], i)
        for i, (operation, arguments) in enumerate(operations)
        if operation.startswith("bra") and kernel.labels[arguments[0]] < i
    ]
    assert len(barriers) == 2
    assert loops
    assert not any(barrier in loop for barrier in barriers for loop in loops)
