# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with their neighbours as one kernel for Hopper, on the PTX simulator:
against f64, for each type, layout, tail and schedule, whenever copies arrive and
whatever order warps and blocks run in."""

from __future__ import annotations

import importlib.util
import math
import re
from dataclasses import dataclass

import gemm_cases
import gemm_row_cases
import numpy as np
import ptx_simulator as ptx
import pytest
from gemm_case import Case, split
from gemm_row_cases import expect_norm
from gemm_simulation import compile_case, count_spills, simulate

CASES = gemm_cases.CASES | gemm_row_cases.CASES

# Of an element that is rounded once, relative to what the largest are.
ERRORS = {"f32": 2e-6, "bf16": 2**-8, "f16": 2**-11, "e4m3": 2**-4, "e5m2": 2**-3}


def is_near(found: np.ndarray, expected: np.ndarray, kind: str, product: str) -> bool:
    """Each element is rounded to its type; what the group computes of the product, to
    the product's type too, where an output shows it so."""
    element = split(kind, 1)[1]
    limit = {"e4m3": 448.0, "e5m2": 57344.0}.get(element, math.inf)
    expected = np.clip(expected, -limit, limit)
    error = 2 * max(ERRORS[element], ERRORS[product])
    size = np.abs(expected) + 0.02 * np.sqrt(np.mean(expected**2))
    return bool(np.all(np.abs(found - expected) <= error * size))


def check_right(case: Case) -> None:
    """Its outputs, whether copies come early or late."""
    compiled = compile_case(case)
    for late in (True, False):
        found, expected = simulate(case, compiled, late=late, seed=late)
        for one, other, kind in zip(found, expected, case.outputs.values(), strict=True):
            assert is_near(one, other, kind, "bf16")


@pytest.mark.parametrize("name", CASES)
def test_right(name: str) -> None:
    check_right(CASES[name])


@pytest.mark.parametrize("name", [name for name in CASES if "residual and norm" in name])
def test_statistics(name: str) -> None:
    """They are of what is stored, which is rounded, and take in each element."""
    case = CASES[name]
    (h, statistics), _ = simulate(case, compile_case(case), late=True)
    np.testing.assert_allclose(statistics, expect_norm(h), rtol=2e-6)


@dataclass
class Fault:
    case: str
    pattern: str
    replacement: str = ""
    occurrence: int | None = None
    """Of several, counted from 0; all where there is none."""


FAULTS = {
    "no turns": Fault("fp8", r"\tbar\.(sync|arrive) %r[^\n]*\n"),
    "no fence of stores": Fault("fp8", r"\tfence\.proxy\.async[^\n]*\n"),
    "no wait for stores": Fault("fp8", r"\tcp\.async\.bulk\.wait_group\.read[^\n]*\n"),
    "no fence of sums": Fault("fp8 blocks", r"\twgmma\.fence[^\n]*\n"),
    "sums read early": Fault(
        "fp8 blocks", r"wait_group\.sync\.aligned 0", "wait_group.sync.aligned 1"
    ),
    "stages freed early": Fault("fp8", r"wait_group\.sync\.aligned 1", "wait_group.sync.aligned 2"),
    "stages never freed": Fault("fp8 blocks", r"\tmbarrier\.arrive\.shared[^\n]*\n", "", 0),
    "warps' rows not waited for": Fault("fp8 transposed", r"\tbar\.sync \s*%r\d+, 128;[^\n]*\n"),
    "bytes not expected": Fault("fp8", r"(expect_tx[^\n]*, )%r\d+", r"\g<1>1024"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    """The simulator would tell if the kernel lacked what it has."""
    fault = FAULTS[name]
    case = CASES[fault.case]
    compiled = compile_case(case)
    places = list(re.finditer(fault.pattern, compiled.text))
    assert places
    for place in reversed(places if fault.occurrence is None else [places[fault.occurrence]]):
        text = compiled.text
        start, end = place.span()
        compiled.text = text[:start] + place.expand(fault.replacement) + text[end:]
    kinds = case.outputs.values()
    for seed in range(4):
        try:
            found, expected = simulate(case, compiled, late=seed % 2 == 0, seed=seed)
        except ptx.SimulationError:
            return
        if not all(map(is_near, found, expected, kinds, ["bf16"] * len(found))):
            return
    pytest.fail("not found")


def list_programs() -> dict[str, str]:
    """The cases, and the rows of the benchmark where there is PyTorch."""
    programs = {name: case.program() for name, case in CASES.items()}
    if importlib.util.find_spec("torch"):
        from gemm import ROWS  # noqa: PLC0415

        for row in ROWS:
            for _, n, k in row.shapes:
                programs[f"{row.name} {n} {k}"] = row.program(n, k, "")
    return programs


@pytest.mark.parametrize("name", list_programs())
def test_registers(name: str) -> None:
    """Nothing is spilled, and the assembler does not serialise products (C75xx)."""
    spills = count_spills(list_programs()[name])
    assert spills == [0] * len(spills)
