# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grouped products with their neighbours as one kernel for Hopper, on the PTX simulator
against f64: whatever the sizes are, and nothing of one group comes to another."""

from __future__ import annotations

import numpy as np
import pytest
from gemm_case import Arrays, Case, gelu
from gemm_cases import quantize, silu, to_bf16, write_swiglu
from gemm_simulation import compile_case, count_spills, run_kernels
from test_gemm_kernels import check_right, is_near

PRODUCT = "%p = fuseops.grouped_matmul %a, %b sizes(%n) {how} : {a}, {b}, {n} -> {kind}\n"


def by_group(a: np.ndarray, b: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The rows of each group times its matrix of `b`, [G, K, N]; of no group, zeros."""
    result = np.zeros((len(a), b.shape[2]))
    start = 0
    for size, matrix in zip(sizes, b, strict=True):
        end = min(start + max(int(size), 0), len(a))
        result[start:end] = a[start:end] @ matrix
        start = end
    return result


def rows(
    sizes: tuple[int, ...],
    n: int,
    k: int,
    *,
    element: str = "bf16",
    result: str = "bf16",
    turned: bool = True,
    fast: bool = False,
    **options: object,
) -> Case:
    """A grouped product by itself; `turned`: the matrices are [N, K]."""
    how = "transpose_rhs" if turned else ""
    how += " {fast_accumulate}" if fast else ""
    kind = f"tensor<?x{n}x{result}>"
    shape = f"{n}x{k}" if turned else f"{k}x{n}"
    left, _, right = element.partition(" ")
    right = right or left
    return Case(
        {
            "a": f"tensor<?x{k}x{left}>",
            "b": f"tensor<{len(sizes)}x{shape}x{right}>",
            "n": f"tensor<{len(sizes)}xi64>",
        },
        PRODUCT.replace("{how}", how).replace("{kind}", kind),
        {"p": kind},
        lambda a, b, s: [by_group(a, b.transpose(0, 2, 1) if turned else b, s)],
        sizes=sizes,
        **options,
    )


def over_rows(
    sizes: tuple[int, ...],
    m: int,
    n: int,
    *,
    result: str = "bf16",
    adds: bool = False,
    **options: object,
) -> Case:
    """A product of each group's rows; `adds`: to what there was."""
    kind = f"tensor<{len(sizes)}x{m}x{n}x{result}>"
    inputs = {
        "a": f"tensor<?x{m}xbf16>",
        "b": f"tensor<?x{n}xbf16>",
        "n": f"tensor<{len(sizes)}xi64>",
    }
    body = PRODUCT.replace("{how}", "transpose_lhs").replace("{kind}", kind)
    if adds:
        inputs["c"] = kind
        body += "%q = fuseops.add %p, %c : {c}, {c} -> {c}\n"

    def expect(a: np.ndarray, b: np.ndarray, s: np.ndarray, *c: np.ndarray) -> Arrays:
        ends = np.minimum(np.cumsum(np.maximum(s, 0)), len(a))
        starts = [0, *ends[:-1]]
        parts = zip(starts, ends, strict=True)
        return [sum(c, np.stack([a[i:j].T @ b[i:j] for i, j in parts]))]

    return Case(inputs, body, {"q" if adds else "p": kind}, expect, sizes=sizes, **options)


def epilogue(sizes: tuple[int, ...], **options: object) -> Case:
    """A bias, GELU, a residual, and the largest of all; in two results."""
    case = rows(sizes, 136, 72, **options)
    case.inputs |= {"c": "tensor<136xbf16>", "r": "tensor<?x136xbf16>"}
    case.body += """
%z = fuseops.bias %p, %c : {r}, {c}
%g = fuseops.gelu %z approximate(tanh) : {r}
%y = fuseops.add %g, %r : {r}, {r} -> {r}
%f = fuseops.cast %y : {r} -> {f}
%m = fuseops.amax %y : {r} -> {m}
"""
    case.outputs = {"y": "tensor<?x136xbf16>", "f": "tensor<?x136xf32>", "m": "tensor<f32>"}
    case.body = case.body.replace("{p}", "{r}")

    def expect(a: np.ndarray, b: np.ndarray, s: np.ndarray, *others: np.ndarray) -> Arrays:
        c, r = others
        y = gelu(by_group(a, b.transpose(0, 2, 1), s) + c) + r
        return [y, y, np.abs(y).max()]

    case.expected = expect
    return case


def swiglu(sizes: tuple[int, ...], half: int, **options: object) -> Case:
    case = rows(sizes, 2 * half, 72, **options)
    case.body += write_swiglu(half)
    case.outputs = {"h": f"tensor<?x{half}xbf16>", "p": f"tensor<?x{2 * half}xbf16>"}

    def expect(a: np.ndarray, b: np.ndarray, s: np.ndarray) -> Arrays:
        p = by_group(a, b.transpose(0, 2, 1), s)
        rounded = to_bf16(p)
        return [silu(rounded[:, :half]) * rounded[:, half:], p]

    case.expected = expect
    return case


def quantized(sizes: tuple[int, ...], **options: object) -> Case:
    """SwiGLU, in FP8 with a scale for each 128 columns: two blocks have a row of them."""
    case = rows(sizes, 512, 72, **options)
    case.body += write_swiglu(256) + quantize("h", 256)
    case.outputs = {"q": "tensor<?x256xf8E4M3FN>", "t": "tensor<2x?xf32>"}

    def expect(a: np.ndarray, b: np.ndarray, s: np.ndarray) -> Arrays:
        p = by_group(a, b.transpose(0, 2, 1), s)
        h = silu(p[:, :256]) * p[:, 256:]
        scales = 448 / np.abs(h).reshape(len(h), -1, 128).max(2)
        return [h * scales.repeat(128, 1), scales.T]

    case.expected = expect
    return case


def transposed(sizes: tuple[int, ...], **options: object) -> Case:
    """In FP8, and that transposed."""
    case = rows(sizes, 136, 72, **options)
    case.inputs["s"] = "tensor<f32>"
    case.body += """
%q = fuseops.pointwise (%u = %p, %v = %s) : (tensor<?x136xbf16>, {s}) -> {q} {
  %x = arith.mulf %u, %v : f32
  fuseops.yield %x : f32
}
%t = fuseops.permute %q order[1, 0] : {q} -> {t}
"""
    case.outputs = {"q": "tensor<?x136xf8E5M2>", "t": "tensor<136x?xf8E5M2>"}

    def expect(a: np.ndarray, b: np.ndarray, s: np.ndarray, by: np.ndarray) -> Arrays:
        q = to_bf16(by_group(a, b.transpose(0, 2, 1), s)) * by
        return [q, q.T]

    case.expected = expect
    return case


def scaled(sizes: tuple[int, ...], **options: object) -> Case:
    """FP8 and its scales: of the rows of one operand and all of the other."""
    case = rows(sizes, 136, 144, element="f8E4M3FN", result="f32", **options)
    case.inputs |= {"s": "tensor<?x1xf32>", "t": "tensor<f32>"}
    case.body += """
%y = fuseops.pointwise (%u = %p, %v = %s, %w = %t) : (tensor<?x136xf32>, {s}, {t}) -> {y} {
  %x = arith.mulf %u, %v : f32
  %z = arith.mulf %x, %w : f32
  fuseops.yield %z : f32
}
"""
    case.outputs = {"y": "tensor<?x136xbf16>"}
    case.expected = lambda a, b, n, s, t: [by_group(a, b.transpose(0, 2, 1), n) * s * t]
    return case


def largest(sizes: tuple[int, ...], **options: object) -> Case:
    """The largest of each row: a tile leaves none of what lies behind its group."""
    case = rows(sizes, 136, 72, **options)
    case.body += "%l = fuseops.reduce_columns max %p : {p} -> {l}\n"
    case.outputs |= {"l": "tensor<?x1xf32>"}
    expect = case.expected

    def expect_both(a: np.ndarray, b: np.ndarray, s: np.ndarray) -> Arrays:
        (p,) = expect(a, b, s)
        return [p, p.max(1, keepdims=True)]

    case.expected = expect_both
    return case


COOPERATIVE = "ping_pong = 0, tile_rows = 128, tile_columns = 128, stages = 2, workers = 1"
CASES = {
    "all rows": rows((40, 100, 60), 192, 200, rows=200),
    "one group": rows((130,), 136, 72),
    "empty groups": rows((0, 70, 0, 0, 130, 0), 64, 72, rows=200),
    "rows of no group": rows((30, 0, 130), 136, 136, rows=390),
    "no rows of a group": rows((0, 0), 64, 64, rows=130),
    "sizes beyond the rows": rows((100, 1 << 40, 7), 64, 72, rows=150),
    "negative sizes": rows((-5, 60, -(1 << 40), 60), 64, 72, rows=150),
    "many groups": rows(tuple(i % 3 for i in range(75)), 64, 64, rows=90),
    "whole tiles": rows((128, 256), 128, 128, rows=384),
    "two blocks": rows((40, 100, 0, 60), 192, 136, rows=230, schedule="workers = 2"),
    "many blocks": rows((40, 100, 0, 60), 192, 136, rows=230, schedule=""),
    "matrices as they are": rows((40, 0, 100), 136, 192, rows=170, turned=False),
    "f16 to f32": rows((40, 0, 100), 200, 72, element="f16", result="f32", rows=170),
    "fp8": rows((40, 0, 100), 200, 272, element="f8E4M3FN", fast=True, rows=170),
    "fp8 added in f32": rows((40, 0, 100), 128, 656, element="f8E5M2 f8E4M3FN", rows=170),
    "fp8 of wide tiles": rows(
        (40, 0, 130),
        192,
        272,
        element="f8E4M3FN",
        fast=True,
        rows=300,
        schedule="tile_columns = 192, stages = 3, workers = 1",
    ),
    "fp8 scaled": scaled((40, 0, 100), fast=True, rows=170),
    "fp8 scaled, added in f32": scaled((40, 0, 100), rows=170),
    "cooperative": rows((40, 0, 140), 192, 136, rows=230, schedule=COOPERATIVE),
    "three warpgroups": rows(
        (40, 200),
        64,
        72,
        rows=270,
        schedule="ping_pong = 0, tile_rows = 192, warpgroups = 3, tile_columns = 64, stages = 2, "
        "workers = 1",
    ),
    "epilogue": epilogue((37, 0, 75), rows=150),
    "cooperative epilogue": epilogue((37, 0, 75), rows=150, schedule=COOPERATIVE),
    "largest of rows": largest((3, 0, 20, 1, 9, 30, 2, 40), rows=110, schedule=""),
    "swiglu": swiglu((37, 0, 75), 104, rows=130),
    "over rows": over_rows((40, 0, 64, 150), 136, 72, rows=280),
    "over rows of many tiles": over_rows((70, 130, 1), 264, 136, rows=201),
    "over rows, two blocks": over_rows(
        (0, 70, 3, 0), 136, 264, rows=100, result="f32", schedule="workers = 2"
    ),
    "over no rows": over_rows((0, 0), 64, 64, rows=100),
    "over rows of an empty tensor": over_rows((3, 4), 64, 64, rows=0),
    "over rows, sizes beyond them": over_rows((30, 1 << 40, 5), 64, 64, rows=100),
    "over rows, accumulated": over_rows((33, 90), 136, 72, rows=130, result="f32", adds=True),
    "over rows of wide tiles": over_rows(
        (33, 90),
        128,
        192,
        rows=130,
        schedule="tile_columns = 192, stages = 3, store_buffers = 1, workers = 1",
    ),
    "quantized": quantized((37, 1, 75), rows=113, schedule="workers = 2"),
    "transposed": transposed((37, 0, 75, 16), rows=144),
}


@pytest.mark.parametrize("name", CASES)
def test_right(name: str) -> None:
    check_right(CASES[name])


def spoil(case: Case, given: Arrays, group: int) -> Arrays:
    """NaN as what a group has, and as all rows that are of none."""
    ends = np.minimum(np.cumsum(np.maximum(case.sizes, 0)), case.rows)
    a = given[0].view(np.uint16).reshape(case.rows, -1).copy()
    b = given[1].view(np.uint16).reshape(len(case.sizes), -1).copy()
    a[ends[group - 1] if group else 0 : ends[group]] = 0x7FC0
    a[ends[-1] :] = 0x7FC0
    b[group] = 0x7FC0
    return [a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8), *given[2:]]


@pytest.mark.parametrize("name", ["rows of no group", "matrices as they are", "swiglu"])
@pytest.mark.parametrize("group", [0, 2])
def test_groups_are_apart(name: str, group: int) -> None:
    case = CASES[name]
    compiled = compile_case(case)
    given = case.draw(1)
    start = sum(case.sizes[:group])
    end = start + case.sizes[group]
    found = run_kernels(case, compiled, spoil(case, given, group), late=True)
    for one, other, kind in zip(found, case.expect(given), case.outputs.values(), strict=True):
        assert np.isnan(one[start:end]).all()
        one[start:end] = other[start:end]
        assert is_near(one, other, kind, "bf16")


@pytest.mark.parametrize("group", [0, 1, 3])
def test_contracted_groups_are_apart(group: int) -> None:
    """A group's NaN, and those of rows of no group, are in its result alone."""
    case = CASES["over rows"]
    compiled = compile_case(case)
    given = case.draw(1)
    starts = [0, *np.cumsum(case.sizes)]
    spoiled = [one.view(np.uint16).reshape(case.rows, -1).copy() for one in given[:2]]
    for one in spoiled:
        one[starts[group] : starts[group + 1]] = 0x7FC0
        one[starts[-1] :] = 0x7FC0
    spoiled = [one.reshape(-1).view(np.uint8) for one in spoiled]
    for late in (True, False):
        (found,) = run_kernels(case, compiled, [*spoiled, given[2]], late=late)
        (expected,) = case.expect(given)
        assert np.isnan(found[group]).all() == (case.sizes[group] > 0)
        found[group] = expected[group]
        assert is_near(found, expected, case.outputs["p"], "bf16")


@pytest.mark.parametrize("name", CASES)
def test_registers(name: str) -> None:
    """Nothing is spilled, and the assembler does not serialise products (C75xx)."""
    spills = count_spills(CASES[name].program())
    assert spills == [0] * len(spills)
