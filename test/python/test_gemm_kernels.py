# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with their neighbours as one kernel for Hopper, on the PTX simulator:
against f64, for each type, layout, tail and schedule, whenever copies arrive and
whatever order warps and blocks run in."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

import fuseops
import launch_plan
import numpy as np
import ptx_simulator as ptx
import pytest
from conftest import ROOT
from ptx_arithmetic import read_floats, round_floats

sys.path.insert(0, str(ROOT / "benchmarks"))

from plans import write_group

Arrays = list[np.ndarray]
Expected = Callable[..., Arrays]


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu_gradient(x: np.ndarray) -> np.ndarray:
    root = math.sqrt(2 / math.pi)
    t = np.tanh(root * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x)


def spread(scales: np.ndarray, rows: int, columns: int, shape: tuple[int, int]) -> np.ndarray:
    """The scales of blocks of `shape` for each of rows and columns."""
    each = scales.repeat(shape[0], 0).repeat(shape[1], 1)
    return each[:rows, :columns]


@dataclass
class Case:
    inputs: dict[str, str]
    """Names and types; `?` is `rows`."""
    body: str
    """What the group does."""
    outputs: dict[str, str]
    expected: Expected
    """The outputs for the inputs' values, in f64."""
    rows: int = 130
    # Few blocks, so that each visits several tiles.
    schedule: str = "workers = 1"


def product(a: str, b: str, n: int, words: str = "per_tensor {w} per_tensor") -> str:
    left, right = words.split(" {w} ")
    right, _, rest = right.partition(" ")
    return (
        f"%p = fuseops.scaled_matmul %a[%as] {left}, %b[%bs] {right} {rest} : "
        f"({{a}}, {{as}}, {{b}}, {{bs}}) -> tensor<?x{n}xbf16>"
    )


FAST = "per_tensor {w} per_tensor {fast_accumulate}"
E4M3, E5M2 = "f8E4M3FN", "f8E5M2"


def fp8(
    words: str, n: int, k: int, scales: tuple[str, str], expected: Expected, **options: object
) -> Case:
    return Case(
        {
            "a": f"tensor<?x{k}x{E4M3}>",
            "as": f"tensor<{scales[0]}f32>",
            "b": f"tensor<{n}x{k}x{E4M3}>",
            "bs": f"tensor<{scales[1]}f32>",
        },
        product("a", "b", n, words),
        {"p": f"tensor<?x{n}xbf16>"},
        expected,
        **options,
    )


def by_tensor(a: np.ndarray, s: np.ndarray, b: np.ndarray, t: np.ndarray) -> Arrays:
    return [(a @ b.T) * s * t]


def by_row(a: np.ndarray, s: np.ndarray, b: np.ndarray, t: np.ndarray) -> Arrays:
    return [(a * s) @ (b * t).T]


def by_block(a: np.ndarray, s: np.ndarray, b: np.ndarray, t: np.ndarray) -> Arrays:
    a = a * spread(s.T, *a.shape, (1, 128))
    return [a @ (b * spread(t, *b.shape, (128, 128))).T]


def by_vector(a: np.ndarray, s: np.ndarray, b: np.ndarray, t: np.ndarray) -> Arrays:
    a = a * spread(s.T, *a.shape, (1, 128))
    return [a @ (b * spread(t.T, *b.shape, (1, 128))).T]


LINEAR = """
%z = fuseops.linear %x, %w bias(%b) : ({x}, {w}, {b}) -> {y}
%g = fuseops.gelu %z approximate(tanh) : {y}
%y = fuseops.add %g, %r : {y}, {y} -> {y}
"""


def linear(element: str, n: int, k: int, **options: object) -> Case:
    return Case(
        {
            "x": f"tensor<?x{k}x{element}>",
            "w": f"tensor<{n}x{k}x{element}>",
            "b": f"tensor<{n}x{element}>",
            "r": f"tensor<?x{n}x{element}>",
        },
        LINEAR,
        {"y": f"tensor<?x{n}x{element}>"},
        lambda x, w, b, r: [gelu(x @ w.T + b) + r],
        **options,
    )


CASES = {
    "fp8": fp8(FAST, 384, 272, ("", ""), by_tensor),
    "fp8 blocks without a tile": fp8(FAST, 384, 272, ("", ""), by_tensor, schedule=""),
    "fp8 one row": fp8(FAST, 64, 16, ("", ""), by_tensor, rows=1),
    "fp8 by row": fp8(
        "per_row {w} per_row {fast_accumulate}", 160, 400, ("?x1x", "160x1x"), by_row, rows=258
    ),
    "fp8 added in f32": fp8("per_tensor {w} per_tensor", 192, 640, ("", ""), by_tensor),
    "fp8 blocks": fp8(
        "block<1x128> {w} block<128x128>", 272, 656, ("6x?x", "3x8x"), by_block, rows=194
    ),
    "fp8 vectors": fp8(
        "block<1x128> {w} block<1x128>", 272, 144, ("2x?x", "2x272x"), by_vector, rows=70
    ),
    "fp8 cooperative": fp8(
        FAST,
        256,
        384,
        ("", ""),
        by_tensor,
        schedule="ping_pong = 0, tile_columns = 256, stages = 3, raster = 1, store_buffers = 1, "
        "workers = 1",
    ),
    "fp8 three warpgroups": fp8(
        FAST,
        128,
        384,
        ("", ""),
        by_tensor,
        rows=200,
        schedule="ping_pong = 0, tile_rows = 192, warpgroups = 3, stages = 2, workers = 1",
    ),
    "bf16": linear("bf16", 136, 200),
    "f16": linear("f16", 256, 64, rows=200, schedule="stages = 2, workers = 1"),
    "bf16 weight gradient": Case(
        {"dy": "tensor<?x136xbf16>", "x": "tensor<?x264xbf16>"},
        "%p = fuseops.matmul %dy, %x transpose_lhs : {dy}, {x} -> tensor<136x264xbf16>\n"
        "%q = fuseops.cast %p : tensor<136x264xbf16> -> tensor<136x264xf32>",
        {"q": "tensor<136x264xf32>"},
        lambda dy, x: [dy.T @ x],
        rows=150,
    ),
    "bf16 input gradient": Case(
        {"dy": "tensor<?x200xbf16>", "w": "tensor<200x192xbf16>", "r": "tensor<?x192xbf16>"},
        "%p = fuseops.matmul %dy, %w : {dy}, {w} -> {r}\n%q = fuseops.add %p, %r : {r}, {r} -> {r}",
        {"q": "tensor<?x192xbf16>"},
        lambda dy, w, r: [dy @ w + r],
    ),
    "gradient": Case(
        {
            "a": f"tensor<?x256x{E5M2}>",
            "as": "tensor<f32>",
            "b": f"tensor<384x256x{E4M3}>",
            "bs": "tensor<f32>",
            "z": "tensor<?x384xbf16>",
        },
        product("a", "b", 384, FAST)
        + """
%g = fuseops.gelu_grad %p, %z approximate(tanh) : {z}
%f = fuseops.cast %g : {z} -> tensor<?x384xf32>
%q = fuseops.pointwise (%u = %g) : ({z}) -> tensor<?x384xf8E5M2> { fuseops.yield %u : f32 }
%d = fuseops.reduce_rows sum %g : {z} -> tensor<384xbf16>
%m = fuseops.amax %g : {z} -> tensor<f32>
""",
        {
            "f": "tensor<?x384xf32>",
            "q": f"tensor<?x384x{E5M2}>",
            "d": "tensor<384xbf16>",
            "m": "tensor<f32>",
        },
        lambda a, s, b, t, z: expect_gradient((a @ b.T) * s * t, z),
        rows=200,
    ),
}


def expect_gradient(dy: np.ndarray, z: np.ndarray) -> Arrays:
    g = dy * gelu_gradient(z)
    return [g, g, g.sum(0), np.abs(g).max()]


KINDS = {E4M3: "e4m3", E5M2: "e5m2"}
BYTES = {"e4m3": 1, "e5m2": 1, "bf16": 2, "f16": 2, "f32": 4}
# Of an element that is rounded once, relative to what the largest are.
ERRORS = {"f32": 2e-6, "bf16": 2**-8, "f16": 2**-11, "e4m3": 2**-4, "e5m2": 2**-3}


def split(kind: str, rows: int) -> tuple[tuple[int, ...], str]:
    """The shape and the element of a type."""
    *dims, element = kind[len("tensor<") : -1].split("x")
    return tuple(rows if dim == "?" else int(dim) for dim in dims), KINDS.get(element, element)


def make(name: str, kind: str, rows: int, generator: np.random.Generator) -> np.ndarray:
    """The bytes of an input: normal numbers, or scales."""
    shape, element = split(kind, rows)
    values = generator.standard_normal(shape)
    if element == "f32":
        values = 2.0 ** generator.integers(-3, 3, shape) * generator.uniform(1, 2, shape)
    bits = round_floats(element, np.asarray(values, np.float32))
    return bits.astype(f"u{BYTES[element]}").reshape(-1).view(np.uint8).copy()


def read(data: np.ndarray, kind: str, rows: int) -> np.ndarray:
    shape, element = split(kind, rows)
    bits = data.view(f"u{BYTES[element]}").astype(np.uint64)
    return read_floats(element, bits).astype(np.float64).reshape(shape)


def emit(program: str, what: str, **options: object) -> str:
    return fuseops.emit(program, what, target="cuda:sm_90a", **options).decode()


@dataclass
class Compiled:
    plan: str
    text: str


def compile_case(case: Case) -> Compiled:
    program = write_group("gemm", case.inputs, case.body, case.outputs, case.schedule)
    return Compiled(emit(program, "ir", compile_to="lowering"), emit(program, "ptx"))


def simulate(case: Case, compiled: Compiled, *, late: bool, seed: int = 0) -> tuple[Arrays, Arrays]:
    """What the kernels give and what they should."""
    generator = np.random.default_rng(seed)
    given = [make(name, kind, case.rows, generator) for name, kind in case.inputs.items()]
    values = [
        read(data, kind, case.rows) for data, kind in zip(given, case.inputs.values(), strict=True)
    ]
    launches = launch_plan.parse(compiled.plan, case.rows)
    found = launch_plan.run_values(
        launches, compiled.text, case.rows, late=late, seed=seed, given=given
    )
    names = launch_plan.find_results(compiled.plan)
    outputs = [
        read(found[name], kind, case.rows)
        for name, kind in zip(names, case.outputs.values(), strict=True)
    ]
    return outputs, [np.asarray(array) for array in case.expected(*values)]


def is_near(found: np.ndarray, expected: np.ndarray, kind: str, product: str) -> bool:
    """Each element is rounded to its type; what the group computes of the product, to
    the product's type too, where an output shows it so."""
    element = split(kind, 1)[1]
    limit = {"e4m3": 448.0, "e5m2": 57344.0}.get(element, math.inf)
    expected = np.clip(expected, -limit, limit)
    error = 2 * max(ERRORS[element], ERRORS[product])
    size = np.abs(expected) + 0.02 * np.sqrt(np.mean(expected**2))
    return bool(np.all(np.abs(found - expected) <= error * size))


@pytest.mark.parametrize("name", CASES)
def test_right(name: str) -> None:
    case = CASES[name]
    compiled = compile_case(case)
    for late in (True, False):
        found, expected = simulate(case, compiled, late=late, seed=late)
        for one, other, kind in zip(found, expected, case.outputs.values(), strict=True):
            assert is_near(one, other, kind, "bf16")


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
    programs = {
        name: write_group("gemm", case.inputs, case.body, case.outputs, case.schedule)
        for name, case in CASES.items()
    }
    if importlib.util.find_spec("torch"):
        from gemm import ROWS  # noqa: PLC0415

        for row in ROWS:
            for _, n, k in row.shapes:
                programs[f"{row.name} {n} {k}"] = row.program(n, k, "")
    return programs


@pytest.mark.parametrize("name", list_programs())
def test_registers(name: str) -> None:
    """Nothing is spilled, and the assembler does not serialise products (C75xx)."""
    report = json.loads(emit(list_programs()[name], "report"))
    kernels = [kernel for entry in report["entries"] for kernel in entry["kernels"]]
    if not all("registers" in kernel for kernel in kernels):
        pytest.skip("no assembler")
    assert [kernel["spill_bytes"] for kernel in kernels] == [0] * len(kernels)
