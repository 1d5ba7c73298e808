# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with their neighbours, and what they should give: each type, layout, scale, tail,
schedule and kind of epilogue."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from gemm_case import Arrays, Case, gelu, gelu_gradient, spread
from plans import write_quantize, write_swiglu_gradient
from ptx_arithmetic import read_floats, round_floats

Expected = Callable[..., Arrays]


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


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(x / 2))


def silu(x: np.ndarray) -> np.ndarray:
    return x * sigmoid(x)


def silu_gradient(x: np.ndarray) -> np.ndarray:
    return sigmoid(x) * (1 + x * sigmoid(-x))


def to_bf16(x: np.ndarray) -> np.ndarray:
    return read_floats("bf16", round_floats("bf16", x.astype(np.float32))).astype(np.float64)


def swiglu(p: np.ndarray) -> np.ndarray:
    half = p.shape[1] // 2
    return silu(p[:, :half]) * p[:, half:]


def write_swiglu(half: int) -> str:
    """`%h` of the product `%p`, which has twice `half` columns."""
    return (
        f"\n%h = fuseops.swiglu %p activation(first) : tensor<?x{2 * half}xbf16> -> "
        f"tensor<?x{half}xbf16>\n"
    )


def swiglu_gradient(half: int) -> str:
    """`%d`, the gradient of the halves `%z` for the product `%p`."""
    one, both = f"tensor<?x{half}xbf16>", f"tensor<?x{2 * half}xbf16>"
    joined = f"%d = fuseops.concat %dg, %du dim(1) : ({one}, {one}) -> {both}\n"
    return write_swiglu_gradient(half, 2 * half) + joined


def expect_swiglu_gradient(dy: np.ndarray, z: np.ndarray) -> Arrays:
    half = dy.shape[1]
    gate, up = z[:, :half], z[:, half:]
    return [np.concatenate([dy * up * silu_gradient(gate), dy * silu(gate)], 1)]


def quantize(source: str, columns: int) -> str:
    """`%q` and its scales `%t`, in blocks of 128 along a row."""
    return write_quantize(source, columns, -(-columns // 128), "t")


TRANSPOSED = """
%q = fuseops.pointwise (%u = %y, %v = %s) : (tensor<?x200xbf16>, {s}) -> {q} {
  %scaled = arith.mulf %u, %v : f32
  fuseops.yield %scaled : f32
}
%t = fuseops.permute %q order[1, 0] : {q} -> {t}
"""


def expect_blocks(x: np.ndarray) -> Arrays:
    columns = x.shape[1]
    padded = np.pad(np.abs(x), ((0, 0), (0, -columns % 128)))
    scales = 448 / padded.reshape(len(x), -1, 128).max(2)
    return [x * scales.repeat(128, 1)[:, :columns], scales.T]


def transposed(rows: int, schedule: str) -> Case:
    return Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<200x72xbf16>", "s": "tensor<f32>"},
        "%y = fuseops.linear %x, %w : ({x}, {w}) -> tensor<?x200xbf16>" + TRANSPOSED,
        {"q": f"tensor<?x200x{E5M2}>", "t": f"tensor<200x?x{E5M2}>"},
        lambda x, w, s: [(x @ w.T) * s, ((x @ w.T) * s).T],
        rows=rows,
        schedule=schedule,
    )


def swiglu_quantized(schedule: str) -> Case:
    return Case(
        {
            "a": f"tensor<?x256x{E4M3}>",
            "as": "tensor<f32>",
            "b": f"tensor<512x256x{E4M3}>",
            "bs": "tensor<f32>",
        },
        product("a", "b", 512, FAST) + write_swiglu(256) + quantize("h", 256),
        {"q": f"tensor<?x256x{E4M3}>", "t": "tensor<2x?xf32>", "p": "tensor<?x512xbf16>"},
        lambda a, s, b, t: [*expect_blocks(swiglu((a @ b.T) * s * t)), (a @ b.T) * s * t],
        schedule=schedule,
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
    # A product of zeros beside the last rows would be the largest.
    "amax of the rows there are": Case(
        {"x": "tensor<?x64xbf16>", "w": "tensor<136x64xbf16>"},
        """
%z = fuseops.linear %x, %w : ({x}, {w}) -> tensor<?x136xbf16>
%y = fuseops.pointwise (%u = %z) : (tensor<?x136xbf16>) -> tensor<?x136xf32> {
  %one = arith.constant 1.0 : f32
  %size = math.absf %u : f32
  %inverse = arith.divf %one, %size : f32
  fuseops.yield %inverse : f32
}
%c = fuseops.reduce_columns max %y : tensor<?x136xf32> -> tensor<?x1xf32>
%m = fuseops.reduce_rows max %c : tensor<?x1xf32> -> tensor<1xf32>
""",
        {"y": "tensor<?x136xf32>", "m": "tensor<1xf32>"},
        lambda x, w: expect_largest(1 / np.abs(x @ w.T)),
    ),
    "bf16 quantized": Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<272x72xbf16>", "b": "tensor<272xbf16>"},
        "%h = fuseops.linear %x, %w bias(%b) : ({x}, {w}, {b}) -> {h}" + quantize("h", 272),
        {"h": "tensor<?x272xbf16>", "q": f"tensor<?x272x{E4M3}>", "t": "tensor<3x?xf32>"},
        lambda x, w, b: [x @ w.T + b, *expect_blocks(x @ w.T + b)],
    ),
    "bf16 swiglu": Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<400x72xbf16>"},
        "%p = fuseops.linear %x, %w : ({x}, {w}) -> {p}" + write_swiglu(200),
        {"h": "tensor<?x200xbf16>", "p": "tensor<?x400xbf16>"},
        lambda x, w: [swiglu(to_bf16(x @ w.T)), x @ w.T],
    ),
    "bf16 swiglu of another shape": Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<256x72xbf16>"},
        """
%p = fuseops.linear %x, %w : ({x}, {w}) -> tensor<?x256xbf16>
%r = fuseops.reshape %p : tensor<?x256xbf16> -> tensor<1x?x256xbf16>
%h = fuseops.swiglu %r activation(first) : tensor<1x?x256xbf16> -> {h}
""",
        {"h": "tensor<1x?x128xbf16>"},
        lambda x, w: [swiglu(x @ w.T)[None]],
    ),
    "bf16 swiglu of columns": Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<72x256xbf16>"},
        "%p = fuseops.matmul %x, %w : {x}, {w} -> tensor<?x256xbf16>" + write_swiglu(128),
        {"h": "tensor<?x128xbf16>"},
        lambda x, w: [swiglu(x @ w)],
    ),
    "bf16 swiglu of columns quantized": Case(
        {"x": "tensor<?x200xbf16>", "w": "tensor<200x512xbf16>"},
        "%p = fuseops.matmul %x, %w : {x}, {w} -> tensor<?x512xbf16>"
        + write_swiglu(256)
        + quantize("h", 256),
        {"q": f"tensor<?x256x{E4M3}>", "t": "tensor<2x?xf32>", "p": "tensor<?x512xbf16>"},
        lambda x, w: [*expect_blocks(swiglu(x @ w)), x @ w],
        schedule="workers = 2",
    ),
    "fp8 swiglu quantized": swiglu_quantized("workers = 2"),
    "fp8 swiglu quantized in one tile": swiglu_quantized(
        "tile_rows = 64, tile_columns = 256, stages = 4, workers = 1"
    ),
    "fp8 blocks swiglu quantized": Case(
        {
            "a": f"tensor<?x272x{E4M3}>",
            "as": "tensor<3x?xf32>",
            "b": f"tensor<400x272x{E4M3}>",
            "bs": "tensor<4x4xf32>",
        },
        product("a", "b", 400, "block<1x128> {w} block<128x128>")
        + write_swiglu(200)
        + quantize("h", 200),
        {"q": f"tensor<?x200x{E4M3}>", "t": "tensor<2x?xf32>", "h": "tensor<?x200xbf16>"},
        lambda a, s, b, t: expect_swiglu_blocks(*by_block(a, s, b, t)),
        rows=194,
        schedule="workers = 2",
    ),
    "fp8 blocks swiglu": Case(
        {
            "a": f"tensor<?x272x{E4M3}>",
            "as": "tensor<3x?xf32>",
            "b": f"tensor<384x272x{E4M3}>",
            "bs": "tensor<3x4xf32>",
        },
        product("a", "b", 384, "block<1x128> {w} block<128x128>") + write_swiglu(192),
        {"h": "tensor<?x192xbf16>"},
        lambda a, s, b, t: [swiglu(*by_block(a, s, b, t))],
        rows=194,
    ),
    "fp8 transposed": transposed(144, "workers = 1"),
    "fp8 transposed, any rows": transposed(199, "ping_pong = 0, workers = 1"),
    # The first half's last columns are not the second half's first.
    "fp8 swiglu by row": Case(
        {
            "a": f"tensor<?x64x{E4M3}>",
            "as": "tensor<?x1xf32>",
            "b": f"tensor<400x64x{E4M3}>",
            "bs": "tensor<400x1xf32>",
        },
        product("a", "b", 400, "per_row {w} per_row {fast_accumulate}") + write_swiglu(200),
        {"p": "tensor<?x400xbf16>", "h": "tensor<?x200xbf16>"},
        lambda a, s, b, t: [*by_row(a, s, b, t), swiglu(to_bf16(*by_row(a, s, b, t)))],
    ),
    # The second block of a cluster has no columns.
    "bf16 swiglu quantized, few columns": Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<128x72xbf16>", "r": "tensor<?x64xbf16>"},
        "%p = fuseops.linear %x, %w : ({x}, {w}) -> tensor<?x128xbf16>"
        + write_swiglu(64).replace("%h", "%g")
        + "%h = fuseops.add %g, %r : {r}, {r} -> {r}"
        + quantize("h", 64),
        {"q": f"tensor<?x64x{E4M3}>", "t": "tensor<1x?xf32>"},
        lambda x, w, r: expect_blocks(swiglu(x @ w.T) + r),
        schedule="workers = 2",
    ),
    # What is narrow is still being filled when half of what is wide is stored.
    "narrow before wide": Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<136x72xbf16>"},
        """
%p = fuseops.linear %x, %w : ({x}, {w}) -> {p}
%f = fuseops.cast %p : {p} -> {f}
%g = fuseops.add %f, %f : {f}, {f} -> {f}
""",
        {"p": "tensor<?x136xbf16>", "f": "tensor<?x136xf32>", "g": "tensor<?x136xf32>"},
        lambda x, w: [x @ w.T, to_bf16(x @ w.T), 2 * to_bf16(x @ w.T)],
    ),
    "fp8 swiglu gradient": Case(
        {
            "a": f"tensor<?x256x{E5M2}>",
            "as": "tensor<f32>",
            "b": f"tensor<200x256x{E4M3}>",
            "bs": "tensor<f32>",
            "z": "tensor<?x400xbf16>",
        },
        product("a", "b", 200, FAST) + swiglu_gradient(200),
        {"d": "tensor<?x400xbf16>"},
        lambda a, s, b, t, z: expect_swiglu_gradient((a @ b.T) * s * t, z),
    ),
}


def expect_swiglu_blocks(p: np.ndarray) -> Arrays:
    return [*expect_blocks(swiglu(p)), swiglu(p)]


def expect_largest(y: np.ndarray) -> Arrays:
    return [y, y.max().reshape(1)]


def expect_gradient(dy: np.ndarray, z: np.ndarray) -> Arrays:
    g = dy * gelu_gradient(z)
    return [g, g, g.sum(0), np.abs(g).max()]
