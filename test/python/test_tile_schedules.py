# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of a tile kernel's schedule that say when memory is asked for, and which block
visits a tile, change no bit of what it computes, whenever its copies arrive and
whatever order its warps and blocks run in."""

from __future__ import annotations

import re
from dataclasses import dataclass

import fuseops
import launch_plan
import numpy as np
import ptx_simulator as ptx
import pytest
from conftest import ROOT
from launch_plan import Launch

FP8 = """
!block = !fuseops.quantized<?xCOLUMNSxf8E4M3FN, scale = block<1x128>, copies = row_col>
!tensor = !fuseops.quantized<?xCOLUMNSxf8E4M3FN, scale = per_tensor, copies = row_col>
!gradient = !fuseops.quantized<?xCOLUMNSxf8E5M2, scale = per_tensor, copies = row_col>
!x = tensor<?xCOLUMNSxbf16>
!s = tensor<f32>
"""
QUANTIZE_BLOCK = """
fuseops.fusible @main(%x: !x) -> !block
attributes {frozen_results = array<i64: 0>}
forward {
  %q = fuseops.quantize %x {power_of_two} : (!x) -> !block
  fuseops.return %q : !block
}
"""
QUANTIZE_TENSOR = """
fuseops.fusible @main(%x: !x, %s: !s) -> (!tensor, !s)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %q = fuseops.quantize %x scale(%s) : (!x, !s) -> !tensor
  %a = fuseops.amax %x : !x -> !s
  fuseops.return %q, %a : !tensor, !s
}
"""
GELU_GRADIENT = """
fuseops.fusible @main(%dy: !x, %z: !x, %s: !s) -> (!gradient, !s, tensor<COLUMNSxbf16>)
attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : !x
  %db = fuseops.reduce_rows sum %dz : !x -> tensor<COLUMNSxbf16>
  %q = fuseops.quantize %dz scale(%s) : (!x, !s) -> !gradient
  %a = fuseops.amax %dz : !x -> !s
  fuseops.return %q, %a, %db : !gradient, !s, tensor<COLUMNSxbf16>
}
"""
# Keys that say no more than when and where: those left out of the plain kernel. What
# is left, `tile_partials` and `threads`, decides the order of sums.
KEYS = r"\b(residents|stages|tickets) = \d+ : i64(, )?"


@dataclass
class Case:
    program: str
    rows: int
    columns: int = 0
    schedule: str = ""


# Tiles that blocks draw are mostly whole: what only some warps do wrong is seen.
CASES = {
    "block": Case(QUANTIZE_BLOCK, 256, 384, "stages = 1, tickets = 1, workers = 2"),
    "block tails": Case(QUANTIZE_BLOCK, 258, 136, "stages = 1, tickets = 1, workers = 2"),
    "block dealt": Case(QUANTIZE_BLOCK, 130, 136, "stages = 2, workers = 1"),
    "block residents": Case(
        QUANTIZE_BLOCK, 256, 384, "residents = 2, stages = 1, threads = 256, workers = 4"
    ),
    "tensor": Case(
        QUANTIZE_TENSOR, 256, 384, "stages = 2, tickets = 1, tile_partials = 1, workers = 2"
    ),
    "tensor tails": Case(
        QUANTIZE_TENSOR, 130, 136, "stages = 3, tickets = 1, tile_partials = 1, workers = 1"
    ),
    "gradient": Case(
        GELU_GRADIENT,
        256,
        384,
        "residents = 2, stages = 1, threads = 256, tickets = 1, tile_partials = 1, workers = 2",
    ),
    "gradient tails": Case(
        GELU_GRADIENT, 258, 136, "stages = 2, tickets = 1, tile_partials = 1, workers = 1"
    ),
    **{
        f"ring{name}": Case(
            (ROOT / "test" / "Integration" / "CPU" / f"tiles-ring{name}.mlir").read_text(), rows
        )
        for name, rows in (("", 130), ("-drawn", 130), ("-pointwise", 258), ("-sums", 258))
    },
}


def emit(program: str, what: str, **options: object) -> str:
    return fuseops.emit(program, what, target="cuda:sm_90a", **options).decode()


@dataclass
class Compiled:
    """A program as its launches and their kernels."""

    plan: list[Launch]
    text: str


def compile_to(program: str, rows: int) -> Compiled:
    plan = launch_plan.parse(emit(program, "ir", compile_to="lowering"), rows)
    return Compiled(plan, emit(program, "ptx"))


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Compiled, Compiled, int]:
    return compile_case(request.param)


def compile_case(name: str) -> tuple[Compiled, Compiled, int]:
    """A case as it is written and without the keys, and its rows."""
    case = CASES[name]
    program = case.program
    if case.schedule:
        program = (FP8 + program).replace("COLUMNS", str(case.columns))
        program = emit(program, "ir", compile_to="fusion")
        keys = re.sub(r"(= \d+)", r"\1 : i64", case.schedule)
        program, count = re.subn(r"(@\w+ tile) \(", rf"\1 schedule {{{keys}}} (", program)
        assert count == 1
    plain = re.sub(r"schedule \{[^}]*\}", lambda match: re.sub(KEYS, "", match.group(0)), program)
    assert plain != program
    return compile_to(program, case.rows), compile_to(plain, case.rows), case.rows


def simulate(compiled: Compiled, rows: int, late: bool, seed: int = 0) -> list[np.ndarray]:
    return launch_plan.run_all(compiled.plan, compiled.text, rows, late=late, seed=seed)[0]


def is_same(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_same_bits(case: tuple[Compiled, Compiled, int]):
    written, plain, rows = case
    assert "cp.async" in written.text
    assert "cp.async" not in plain.text
    assert "atom" not in plain.text
    expected = simulate(plain, rows, late=False)
    assert np.mean([np.mean(output == launch_plan.UNWRITTEN) for output in expected]) < 0.05
    for late in (True, False):
        assert is_same(expected, simulate(written, rows, late))


@pytest.mark.parametrize("name", ["block tails", "ring-pointwise"])
def test_tiles_are_drawn_once(name: str):
    """In other orders too: a block draws once ahead and once for each tile that it
    visits."""
    written, plain, rows = compile_case(name)
    expected = simulate(plain, rows, late=False)
    launch = next(launch for launch in written.plan if launch.shared_bytes)
    tiles = launch_plan.divide_up(rows, 128) * (launch.rows // rows)
    for seed in range(1, 4):
        found, counters = launch_plan.run_all(
            written.plan, written.text, rows, late=True, seed=seed
        )
        assert is_same(expected, found)
        assert counters == [launch.grid + tiles]


def test_partial_results_of_tiles():
    """They change the order of sums, no other bit."""
    tiles, _, rows = compile_case("gradient tails")
    program = (FP8 + GELU_GRADIENT).replace("COLUMNS", str(CASES["gradient tails"].columns))
    found, expected = (
        simulate(compiled, rows, late=True) for compiled in (tiles, compile_to(program, rows))
    )
    outputs = [kind for launch in tiles.plan for kind in launch.outputs if kind != "1xi64"]
    for kind, one, other in zip(outputs, found, expected, strict=True):
        if kind == "136xbf16":
            sums = [
                (a.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for a in (one, other)
            ]
            np.testing.assert_allclose(*sums, rtol=2**-7, atol=2**-7)
        elif "blocks<128>" not in kind:
            assert np.array_equal(one, other)


@dataclass
class Fault:
    case: str
    pattern: str
    replacement: str
    occurrence: int = 0


BARRIER = r"\tbar\.sync[^\n]*\n"
TICKET = r"\tld\.shared\.b32[^\n]*_ticket[^\n]*\n"
FAULTS = {
    "no wait": Fault("ring-pointwise", r"\tcp\.async\.wait_group[^\n]*\n", ""),
    "a wait for one group less": Fault(
        "ring-pointwise", r"cp\.async\.wait_group \t1", "cp.async.wait_group \t2"
    ),
    "a first tile without a group": Fault("ring-pointwise", r"cp\.async\.commit_group;", ""),
    "a drawn tile without a group": Fault("ring-pointwise", r"cp\.async\.commit_group;", "", 2),
    "one slot for all tiles": Fault(
        "ring-pointwise", r"selp\.b64 (\s*%rd\d+), 0, %rd\d+, %p\d+;", r"mov.b64 \1, 0;"
    ),
    "no barrier before the ticket is read": Fault("ring-pointwise", BARRIER + f"({TICKET})", r"\1"),
    "a ticket read early": Fault("ring-pointwise", f"({BARRIER})({TICKET})", r"\2\1"),
    "no barrier before the next ticket": Fault("ring-pointwise", BARRIER, ""),
    "a number left out": Fault("ring-pointwise", r"(atom[^\n]*), 1;", r"\1, 2;"),
    "a counter that is not zero": Fault(
        "ring-pointwise", r"(st\.global\.b64[^\n]*), 0;", r"\1, 1;"
    ),
    "no wait for the only slot": Fault("block tails", r"\tcp\.async\.wait_group[^\n]*\n", ""),
    # The first one, at the end of a tile, has others between its uses here.
    "no barrier after parts of blocks": Fault("block tails", BARRIER, "", 1),
    "no barrier after blocks": Fault("block tails", BARRIER, "", 2),
    "no barrier after staging": Fault("block tails", BARRIER, "", 3),
}


@pytest.fixture(scope="module")
def faultless() -> dict[str, tuple[Compiled, list[np.ndarray], int]]:
    """The kernels that faults are planted in, what is right, and the rows."""
    found = {}
    for name in {fault.case for fault in FAULTS.values()}:
        written, plain, rows = compile_case(name)
        found[name] = written, simulate(plain, rows, late=False), rows
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str, faultless: dict[str, tuple[Compiled, list[np.ndarray], int]]):
    """The simulator sees what each part of the protocol is for."""
    fault = FAULTS[name]
    written, expected, rows = faultless[fault.case]
    place = list(re.finditer(fault.pattern, written.text))[fault.occurrence]
    changed = written.text[: place.start()] + place.expand(fault.replacement)
    faulty = Compiled(written.plan, changed + written.text[place.end() :])

    def is_found(seed: int) -> bool:
        try:
            return not is_same(expected, simulate(faulty, rows, late=True, seed=seed))
        except ptx.SimulationError:
            return True

    assert any(is_found(seed) for seed in range(6))
