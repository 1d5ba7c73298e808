# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long sums are added up in runs: every term once, and an error that does not grow with
their number, as that of a sum term by term does."""

from __future__ import annotations

from dataclasses import dataclass

import fuseops
import launch_plan
import numpy as np
import pytest

# Terms of a run (lib/Conversion/FuseOpsToKernels/SumRuns.h).
RUN = 128
ROUNDOFF = 2.0**-24

TYPES = """
!x = tensor<?xCOLUMNSxf32>
!row = tensor<COLUMNSxf32>
!column = tensor<?x1xf32>
!one = tensor<1xf32>
!product = tensor<1xCOLUMNSxCOLUMNSxf32>
"""
ROWS = """
fuseops.fusible @main(%x: !x) -> !row
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.group @sum TEMPLATE schedule {KEYS} (%a = %x) : (!x) -> !row {
    %s = fuseops.reduce_rows sum %a : !x -> !row
    fuseops.yield %s : !row
  }
  fuseops.return %y : !row
}
"""
COLUMNS = """
fuseops.fusible @main(%x: !x) -> !column
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.group @sum TEMPLATE schedule {KEYS} (%a = %x) : (!x) -> !column {
    %s = fuseops.reduce_columns sum %a : !x -> !column
    fuseops.yield %s : !column
  }
  fuseops.return %y : !column
}
"""
# A sum of one value a row, and one of all elements.
WHOLE = """
fuseops.fusible @main(%x: !x) -> !one
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.group @sum TEMPLATE schedule {KEYS} (%a = %x) : (!x) -> !one {
    %t = fuseops.reduce_columns sum %a : !x -> !column
    %s = fuseops.reduce_rows sum %t : !column -> !one
    fuseops.yield %s : !one
  }
  fuseops.return %y : !one
}
"""
GROUPED = """
fuseops.fusible @main(%x: !x, %n: tensor<1xi64>) -> !product
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.grouped_matmul %x, %x sizes(%n) transpose_lhs : !x, !x, tensor<1xi64> -> !product
  fuseops.return %y : !product
}
"""


@dataclass
class Case:
    program: str
    rows: int
    columns: int
    keys: str = ""
    template: str = "row_column"

    @property
    def text(self) -> str:
        keys = ", ".join(f"{key} : i64" for key in self.keys.split(", ") if key)
        text = (TYPES + self.program).replace("TEMPLATE", self.template).replace("KEYS", keys)
        return text.replace("COLUMNS", str(self.columns))

    def inputs(self, x: np.ndarray) -> list[np.ndarray]:
        return [x, np.array([len(x)])] if self.program is GROUPED else [x]

    def expected(self, x: np.ndarray) -> np.ndarray:
        x = x.astype(np.float64)
        if self.program is GROUPED:
            return (x.T @ x)[None]
        return x.sum(axis={ROWS: 0, COLUMNS: 1, WHOLE: (0, 1)}[self.program]).reshape(
            (-1, 1) if self.program is COLUMNS else (-1,)
        )


# Few threads, so that each has several runs, of which the last is short.
GPU = {
    "along a row": Case(COLUMNS, 2, 8 * (2 * RUN + 5), "rows = 1, threads = 2", "row"),
    "tail": Case(COLUMNS, 2, 16 * RUN + 12, "rows = 1, threads = 2, unroll = 3", "row"),
    "many partial results": Case(ROWS, 16 * RUN + 7, 32, "rows = 1, threads = 8, workers = 4096"),
    "grouped": Case(GROUPED, 2 * RUN + 1, 3),
}


@pytest.mark.parametrize("name", GPU)
def test_every_term_once_on_a_gpu(name: str) -> None:
    case = GPU[name]
    # Sums of these are exact, whatever their order is.
    x = np.random.default_rng(0).integers(1, 8, (case.rows, case.columns)).astype(np.float32)
    plan = fuseops.emit(case.text, "ir", target="cuda:sm_90a", compile_to="lowering").decode()
    text = fuseops.emit(case.text, "ptx", target="cuda:sm_90a").decode()
    launches = launch_plan.parse(plan, case.rows)
    given = [array.reshape(-1).view(np.uint8).copy() for array in case.inputs(x)]
    values = launch_plan.run_values(launches, text, case.rows, late=True, given=given)
    expected = case.expected(x)
    result = values[launches[-1].results[0]].view(np.float32)
    assert np.array_equal(result, expected.reshape(-1))


CPU = {
    "rows": Case(ROWS, 100003, 5),
    "wide rows": Case(ROWS, 16 * (2 * RUN + 1), 1056),
    "fewer rows than tasks": Case(ROWS, 17, 32800),
    "one run": Case(ROWS, 40, 24),
    "one row": Case(ROWS, 1, 24),
    "one a row": Case(WHOLE, 200001, 1),
    "along a row": Case(COLUMNS, 3, 300007, template="row"),
    "tiles": Case(ROWS, 128 * 40 + 5, 136, template="tile"),
    "all of tiles": Case(WHOLE, 128 * 300 + 5, 136, template="tile"),
    "grouped": Case(GROUPED, 100003, 2),
}


@pytest.mark.parametrize("name", CPU)
def test_error_does_not_grow_with_the_terms(name: str) -> None:
    case = CPU[name]
    program = fuseops.Program(fuseops.emit(case.text, target="cpu"))

    def run(x: np.ndarray) -> np.ndarray:
        results, _ = program.forward(*case.inputs(x))
        return np.asarray(results[0] if isinstance(results, tuple) else results, np.float64)

    shape = (case.rows, case.columns)
    x = np.random.default_rng(0).integers(1, 3, shape).astype(np.float32)
    assert np.array_equal(run(x), case.expected(x))
    # Roundings of equal terms have one sign as long as the sum has one exponent.
    x = np.full(shape, 0.1, np.float32)
    error = np.abs(run(x) / case.expected(x) - 1).max()
    assert error <= 2 * RUN * ROUNDOFF
    if case.rows * case.columns > 10000 and case.program is not ROWS:
        term_by_term = np.cumsum(x.reshape(-1), dtype=np.float32)[-1]
        assert abs(term_by_term / x.sum(dtype=np.float64) - 1) > 2 * RUN * ROUNDOFF
