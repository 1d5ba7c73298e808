# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Row kernels quantize with scales of blocks along the row bit for bit: their PTX runs
on the simulator, and what it writes is compared with the rules of FP8."""

from __future__ import annotations

import re
from dataclasses import dataclass

import fuseops
import launch_plan
import ml_dtypes
import numpy as np
import ptx_simulator as ptx
import pytest
from fp8 import rules
from fp8.rules import Array, Rule

HEAD = """
!q = !fuseops.quantized<?xCOLUMNSxf8E4M3FN, scale = KIND, copies = row>
!x = tensor<?xCOLUMNSxDTYPE>
!row = tensor<?x1xf32>
!column = tensor<COLUMNSxDTYPE>
"""
# Each gives the matrix that it quantizes, as it is in memory, and its parts; NORM the sum
# before it.
QUANTIZE = """
fuseops.fusible @main(%x: !x) -> (!x, !q) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y = fuseops.relu %x : !x
  %q = fuseops.quantize %y ATTRIBUTES : (!x) -> !q
  fuseops.return %y, %q : !x, !q
}
"""
NORM = """
fuseops.fusible @main(%x: !x, %r: !x, %g: !column) -> (!x, !q, !x)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %s = fuseops.add %x, %r : !x, !x -> !x
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (!x, !column) -> (!x, !row)
  %q = fuseops.quantize %y ATTRIBUTES : (!x) -> !q
  fuseops.return %y, %q, %s : !x, !q, !x
}
"""
GRADIENT = """
fuseops.fusible @main(%dy: !x, %x: !x) -> (!x, !q, !column)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %dx = fuseops.silu_grad %dy, %x : !x
  %b = fuseops.reduce_rows sum %dx : !x -> !column
  %q = fuseops.quantize %dx ATTRIBUTES : (!x) -> !q
  fuseops.return %dx, %q, %b : !x, !q, !column
}
"""
NORM_GRADIENT = """
fuseops.fusible @main(%dy: !x, %x: !x, %r: !row, %g: !column) -> (!x, !q, !column)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %dx, %dg = fuseops.rms_norm_grad %dy, %x, %r gamma(%g) : (!x, !x, !row, !column) -> (!x, !column)
  %q = fuseops.quantize %dx ATTRIBUTES : (!x) -> !q
  fuseops.return %dx, %q, %dg : !x, !q, !column
}
"""


@dataclass
class Case:
    program: str
    rows: int
    columns: int
    schedule: str = ""
    kind: str = "block<1x128>"
    dtype: str = "bf16"
    template: str = "row"
    barriers: bool = False
    """Whether warps meet: those of a block, or of a row that is summed."""


CASES = {
    "held": Case(QUANTIZE, 7, 384),
    "one row": Case(QUANTIZE, 1, 256),
    "rows of a block": Case(QUANTIZE, 11, 136, "rows = 4, threads = 32, workers = 2"),
    "rows of a warp": Case(QUANTIZE, 11, 128, "rows = 8, threads = 16"),
    "last block": Case(QUANTIZE, 3, 392, "rows = 1, threads = 16"),
    "short row": Case(QUANTIZE, 5, 72, "rows = 2, threads = 16"),
    "one column": Case(QUANTIZE, 3, 1),
    "loop": Case(QUANTIZE, 3, 2184, "rows = 2, threads = 16"),
    "loop ahead": Case(QUANTIZE, 2, 2312, "prefetch = 1, rows = 1, threads = 16, unroll = 3"),
    "loop of blocks": Case(QUANTIZE, 2, 2304, "residents = 4, rows = 1, threads = 16"),
    # Vectors of two elements and of one: a block has two or four warps.
    "two warps": Case(QUANTIZE, 3, 386, barriers=True),
    "four warps": Case(QUANTIZE, 3, 387, "rows = 2, threads = 128", barriers=True),
    "four warps of a row": Case(QUANTIZE, 3, 115, barriers=True),
    "four warps in a loop": Case(
        QUANTIZE, 2, 16643, "rows = 1, threads = 128, workers = 1", dtype="f32", barriers=True
    ),
    "f32": Case(QUANTIZE, 3, 388, dtype="f32"),
    "mx": Case(QUANTIZE, 3, 424, kind="mx<1x32>"),
    "mx odd": Case(QUANTIZE, 3, 75, kind="mx<1x32>"),
    "mx f32": Case(QUANTIZE, 3, 100, kind="mx<1x32>", dtype="f32"),
    "norm": Case(NORM, 5, 1032, barriers=True),
    "norm ring": Case(
        NORM,
        7,
        1032,
        "prefetch = 1, rows = 1, stages = 2, threads = 64, workers = 2",
        barriers=True,
    ),
    "norm of a warp": Case(NORM, 5, 256),
    "norm odd": Case(NORM, 3, 259, barriers=True),
    "norm loop": Case(NORM, 3, 2312, "rows = 1, threads = 16"),
    "norm gradient": Case(NORM_GRADIENT, 5, 520, template="row_column", barriers=True),
    "norm gradient ring": Case(
        NORM_GRADIENT,
        7,
        1032,
        "prefetch = 1, rows = 1, stages = 2, threads = 128, workers = 2",
        template="row_column",
        barriers=True,
    ),
    "gradient": Case(GRADIENT, 5, 520, "rows = 1, threads = 64, tiles = 1", template="row_column"),
    "gradient rows": Case(
        GRADIENT, 5, 264, "rows = 4, threads = 32, tiles = 1", template="row_column", barriers=True
    ),
    "gradient tiles": Case(GRADIENT, 19, 648, template="row_column", barriers=True),
    "gradient odd": Case(GRADIENT, 3, 261, template="row_column", barriers=True),
}
DTYPES = {"bf16": ml_dtypes.bfloat16, "f32": np.float32}


@dataclass
class Fault:
    case: str
    pattern: str
    replacement: str = ""
    occurrence: int = 0


BARRIER = r"\tbar\.sync[^\n]*\n"
SHUFFLE = r"shfl\.sync\.bfly\.b32 (\s*%r\d+), (%r\d+), {}, 31, -1"
FAULTS = {
    "a step less": Fault("last block", SHUFFLE.format(1), r"mov.b32 \1, \2"),
    "a step too far": Fault("held", SHUFFLE.format(8), r"shfl.sync.bfly.b32 \1, \2, 16, 31, -1"),
    "no barrier before the write": Fault("four warps", BARRIER, occurrence=2),
    "no barrier after the write": Fault("four warps", BARRIER, occurrence=5),
}


def emit(program: str, what: str, **options: object) -> str:
    return fuseops.emit(program, what, target="cuda:sm_90a", **options).decode()


def compile_case(case: Case, attributes: str = "{power_of_two}") -> tuple[list, str]:
    """The launches of a case and their kernels."""
    program = HEAD + case.program.replace("ATTRIBUTES", attributes)
    program = program.replace("COLUMNS", str(case.columns)).replace("DTYPE", case.dtype)
    program = emit(program.replace("KIND", case.kind), "ir", compile_to="fusion")
    group = rf"(fuseops\.group @\w+ {case.template}) \("
    assert re.search(group, program)
    assert program.count("fuseops.group") == 1
    if case.schedule:
        keys = re.sub(r"(= \d+)", r"\1 : i64", case.schedule)
        program = re.sub(group, rf"\1 schedule {{{keys}}} (", program)
    plan = launch_plan.parse(emit(program, "ir", compile_to="lowering"), case.rows)
    return plan, emit(program, "ptx")


def make_inputs(case: Case, plan: list) -> list[Array]:
    """Normal numbers with a magnitude for each column, so that neighbouring blocks have
    other scales; a block of zeros, an infinity and a NaN."""
    generator = np.random.default_rng(3)
    inputs = []
    kinds = dict(zip(plan[0].operands, plan[0].inputs, strict=True))
    for name in sorted(kinds):
        if kinds[name] == "?x1xf32":
            inputs.append(generator.uniform(0.5, 2, (case.rows, 1)).astype(np.float32))
            continue
        rows = case.rows if kinds[name].startswith("?") else 1
        x = generator.standard_normal((rows, case.columns), dtype=np.float32)
        if not inputs:
            x *= np.exp2(generator.integers(-6, 7, (1, case.columns)))
            x[0, : case.columns // 2] = 0
            x[-1, -1] = np.nan
            x[-1, 0] = np.inf
        inputs.append(x.astype(DTYPES[case.dtype]))
    return inputs


def name_scales(case: Case) -> str:
    """The type of the inverse scales."""
    if case.kind == "mx<1x32>":
        return f"?x{launch_plan.divide_up(case.columns, 32)}xf8E8M0FNU"
    return f"{launch_plan.divide_up(case.columns, 128)}x?xf32"


def attributes_of(case: Case) -> str:
    return "" if case.kind == "mx<1x32>" else "{power_of_two}"


def check(case: Case, attributes: str | None = None, seed: int = 0, fault: Fault | None = None):
    attributes = attributes_of(case) if attributes is None else attributes
    plan, text = compile_case(case, attributes)
    if fault:
        matches = list(re.finditer(fault.pattern, text))
        start, end = matches[fault.occurrence].span()
        text = text[:start] + matches[fault.occurrence].expand(fault.replacement) + text[end:]
    code = ptx.parse(text, plan[0].name).code
    has_barriers = any(operation.startswith("bar") for _, operation, _ in code)
    assert fault or has_barriers == case.barriers
    given = [x.reshape(-1).view(np.uint8) for x in make_inputs(case, plan)]
    found, _ = launch_plan.run_all(plan, text, case.rows, late=True, seed=seed, given=given)
    # Of matrices of one type the last is quantized.
    outputs = dict(zip(plan[0].outputs, found, strict=False))
    y, data, inverse = (
        outputs[kind]
        for kind in (
            f"?x{case.columns}x{case.dtype}",
            f"?x{case.columns}xf8E4M3FN",
            name_scales(case),
        )
    )
    y = y.view(DTYPES[case.dtype]).reshape(case.rows, case.columns).astype(np.float32)
    rule = Rule(case.kind, "f8E4M3FN", power_of_two="power_of_two" in attributes)
    expected, scales = rules.quantize_copy(y, rule)
    assert np.array_equal(data.reshape(expected.shape), expected)
    scales = scales if scales.dtype == np.uint8 else scales.view(np.uint32)
    assert np.array_equal(inverse.view(scales.dtype).reshape(scales.shape), scales)


@pytest.mark.parametrize("name", CASES)
def test_same_bits(name: str):
    check(CASES[name])


def test_scales_that_are_no_powers_of_two():
    check(CASES["last block"], "")


@pytest.mark.parametrize("name", ["four warps", "norm odd"])
def test_any_order_of_warps(name: str):
    for seed in range(1, 4):
        check(CASES[name], seed=seed)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str):
    def is_found(seed: int) -> bool:
        try:
            check(CASES[FAULTS[fault].case], seed=seed, fault=FAULTS[fault])
        except AssertionError as error:
            return "array_equal" in str(error)
        return False

    assert any(is_found(seed) for seed in range(6))
