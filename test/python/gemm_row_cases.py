# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with reductions along rows of what is computed of them, and what they should give."""

from __future__ import annotations

import numpy as np
from gemm_case import Arrays, Case
from gemm_cases import (
    E4M3,
    FAST,
    by_block,
    expect_blocks,
    product,
    quantize,
    swiglu,
    to_bf16,
    write_swiglu,
)


def norm(source: str, columns: int, of: str = "bf16") -> str:
    """`%s`, the root mean square's inverse of each row of `%h`, as a norm needs it."""
    full = f"tensor<?x{columns}x{of}>"
    return f"""
%sq = fuseops.pointwise (%u = %{source}) : ({full}) -> tensor<?x{columns}xf32> {{
  %square = arith.mulf %u, %u : f32
  fuseops.yield %square : f32
}}
%sum = fuseops.reduce_columns sum %sq : tensor<?x{columns}xf32> -> tensor<?x1xf32>
%s = fuseops.pointwise (%u = %sum) : (tensor<?x1xf32>) -> tensor<?x1xf32> {{
  %count = arith.constant {columns}.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %mean = arith.divf %u, %count : f32
  %some = arith.addf %mean, %eps : f32
  %rstd = math.rsqrt %some : f32
  fuseops.yield %rstd : f32
}}
"""


def expect_norm(h: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt((h * h).mean(1, keepdims=True) + 1e-5)


def residual_norm(n: int, **options: object) -> Case:
    """A residual is added, and the next norm has its statistics."""
    return Case(
        {
            "x": "tensor<?x72xbf16>",
            "w": f"tensor<{n}x72xbf16>",
            "r": f"tensor<?x{n}xbf16>",
        },
        "%p = fuseops.linear %x, %w : ({x}, {w}) -> {r}\n%h = fuseops.add %p, %r : {r}, {r} -> {r}"
        + norm("h", n),
        {"h": f"tensor<?x{n}xbf16>", "s": "tensor<?x1xf32>"},
        lambda x, w, r: [x @ w.T + r, expect_norm(x @ w.T + r)],
        **options,
    )


def expect_residual(h: np.ndarray) -> Arrays:
    return [h, expect_norm(h)]


def expect_both(z: np.ndarray, by: np.ndarray) -> Arrays:
    largest = -np.abs(z).min(1, keepdims=True)
    return [z, largest * by, z.sum(1, keepdims=True), largest.max().reshape(1), z.sum(0)]


def expect_swiglu_sums(p: np.ndarray) -> Arrays:
    h = swiglu(to_bf16(p))
    return [p, *expect_blocks(h), h.sum(1, keepdims=True)]


CASES = {
    # Three tiles along a row, the last of fewer columns; and one tile.
    "bf16 residual and norm": residual_norm(264),
    "bf16 residual and norm, whole tiles": residual_norm(384, rows=200, schedule="workers = 2"),
    "bf16 residual and norm, cooperative": residual_norm(
        264,
        rows=300,
        schedule="ping_pong = 0, tile_rows = 256, tile_columns = 64, stages = 3, workers = 1",
    ),
    "bf16 residual and norm, three warpgroups": residual_norm(
        136,
        rows=194,
        schedule="ping_pong = 0, warpgroups = 3, tile_rows = 192, stages = 2, workers = 1",
    ),
    "fp8 residual and norm": Case(
        {
            "a": f"tensor<?x144x{E4M3}>",
            "as": "tensor<f32>",
            "b": f"tensor<272x144x{E4M3}>",
            "bs": "tensor<f32>",
            "r": "tensor<?x272xbf16>",
        },
        product("a", "b", 272, FAST)
        + "\n%h = fuseops.add %p, %r : {r}, {r} -> {r}"
        + norm("h", 272),
        {"h": "tensor<?x272xbf16>", "s": "tensor<?x1xf32>"},
        lambda a, s, b, t, r: expect_residual((a @ b.T) * s * t + r),
    ),
    "fp8 blocks residual and norm": Case(
        {
            "a": f"tensor<?x272x{E4M3}>",
            "as": "tensor<3x?xf32>",
            "b": f"tensor<200x272x{E4M3}>",
            "bs": "tensor<2x4xf32>",
            "r": "tensor<?x200xbf16>",
        },
        product("a", "b", 200, "block<1x128> {w} block<128x128>")
        + "\n%h = fuseops.add %p, %r : {r}, {r} -> {r}"
        + norm("h", 200),
        {"h": "tensor<?x200xbf16>", "s": "tensor<?x1xf32>"},
        lambda a, s, b, t, r: expect_residual(by_block(a, s, b, t)[0] + r),
        rows=194,
    ),
    # Beyond the last column and row there are products of zeros, which would be largest.
    "reductions along rows and over rows": Case(
        {"x": "tensor<?x64xbf16>", "w": "tensor<136x64xbf16>", "by": "tensor<?x1xf32>"},
        """
%z = fuseops.linear %x, %w : ({x}, {w}) -> {z}
%n = fuseops.pointwise (%u = %z) : ({z}) -> tensor<?x136xf32> {
  %size = math.absf %u : f32
  %less = arith.negf %size : f32
  fuseops.yield %less : f32
}
%largest = fuseops.reduce_columns max %n : tensor<?x136xf32> -> tensor<?x1xf32>
%l = fuseops.pointwise (%u = %largest, %v = %by) : ({l}, {by}) -> {l} {
  %scaled = arith.mulf %u, %v : f32
  fuseops.yield %scaled : f32
}
%c = fuseops.reduce_columns sum %z : {z} -> {c}
%again = fuseops.reduce_columns max %n : tensor<?x136xf32> -> tensor<?x1xf32>
%m = fuseops.reduce_rows max %again : {l} -> tensor<1xf32>
%d = fuseops.reduce_rows sum %z : {z} -> {d}
""",
        {
            "z": "tensor<?x136xbf16>",
            "l": "tensor<?x1xf32>",
            "c": "tensor<?x1xbf16>",
            "m": "tensor<1xf32>",
            "d": "tensor<136xf32>",
        },
        lambda x, w, by: expect_both(to_bf16(x @ w.T), by),
        rows=200,
        schedule="workers = 1",
    ),
    # What the group sees is half as wide, and what it reduces needs two passes.
    "bf16 swiglu and its rows' sums": Case(
        {"x": "tensor<?x72xbf16>", "w": "tensor<512x72xbf16>"},
        "%p = fuseops.linear %x, %w : ({x}, {w}) -> {p}"
        + write_swiglu(256)
        + quantize("h", 256)
        + "%c = fuseops.reduce_columns sum %h : tensor<?x256xbf16> -> {c}",
        {
            "p": "tensor<?x512xbf16>",
            "q": f"tensor<?x256x{E4M3}>",
            "t": "tensor<2x?xf32>",
            "c": "tensor<?x1xf32>",
        },
        lambda x, w: expect_swiglu_sums(x @ w.T),
        schedule="workers = 2",
    ),
}
