# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose vectors of bf16 are split into pairs keep every bit, and every element's place."""

import pytest
import torch

from conformance import runner

CODES = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)


def assert_same(got: torch.Tensor, want: torch.Tensor):
    """Bit for bit, but for the payload of NaN."""
    assert torch.equal(got.isnan(), want.isnan())
    valid = ~want.isnan()
    assert torch.equal(got[valid].view(torch.int16), want[valid].view(torch.int16))


@pytest.mark.parametrize("columns", [64, 80, 70])
def test_every_code(columns: int):
    """Vectors of 32, vectors of 16, and columns past the last vector."""
    rows = (1 << 16) // columns
    x = CODES[: rows * columns].reshape(rows, columns)
    t = f"tensor<?x{columns}xbf16>"
    program = runner.compile_ir(
        f"fuseops.fusible @main(%x: {t}) -> {t} forward {{\n"
        f"%y = fuseops.scale %x by(-1.0) : {t}\nfuseops.return %y : {t}\n}}"
    )
    assert_same(program.forward(x)[0][0], -x)


def test_rounding():
    """Ties, carries, subnormal numbers, infinity and NaN, in every lane."""
    codes = torch.arange(0, 1 << 16).repeat_interleave(4)
    low = torch.tensor([0, 0x7FFF, 0x8000, 0x8001]).repeat(1 << 16)
    bits = (codes << 16 | low).to(torch.int32)
    x = torch.cat([bits, bits.roll(1)]).view(torch.float32).reshape(-1, 64)
    program = runner.compile_ir(
        "fuseops.fusible @main(%x: tensor<?x64xf32>) -> tensor<?x64xbf16> forward {\n"
        "%y = fuseops.cast %x : tensor<?x64xf32> -> tensor<?x64xbf16>\n"
        "fuseops.return %y : tensor<?x64xbf16>\n}"
    )
    assert_same(program.forward(x)[0][0], x.to(torch.bfloat16))


def test_mixed_types():
    """Values of other types, statistics of rows and sums over rows meet the same columns."""
    program = runner.compile_ir(
        """fuseops.fusible @main(%x: tensor<?x96xbf16>, %y: tensor<?x96xbf16>, %w: tensor<?x96xf32>,
        %g: tensor<96xbf16>) -> (tensor<?x96xbf16>, tensor<96xf32>, tensor<?x1xf32>) forward {
      %a = fuseops.mul %x, %y : tensor<?x96xbf16>, tensor<?x96xbf16> -> tensor<?x96xf32>
      %b = fuseops.mul %a, %w : tensor<?x96xf32>, tensor<?x96xf32> -> tensor<?x96xf32>
      %c = fuseops.mul %b, %g : tensor<?x96xf32>, tensor<96xbf16> -> tensor<?x96xbf16>
      %s = fuseops.reduce_rows sum %b : tensor<?x96xf32> -> tensor<96xf32>
      %m = fuseops.reduce_columns max %b : tensor<?x96xf32> -> tensor<?x1xf32>
      fuseops.return %c, %s, %m : tensor<?x96xbf16>, tensor<96xf32>, tensor<?x1xf32>
    }"""
    )
    generator = torch.Generator().manual_seed(3)
    x, y = (torch.randn(33, 96, generator=generator).bfloat16() for _ in range(2))
    w = torch.randn(33, 96, generator=generator)
    g = torch.randn(96, generator=generator).bfloat16()
    (c, s, m), _ = program.forward(x, y, w, g)
    b = x.float() * y.float() * w
    assert torch.equal(c, (b * g.float()).bfloat16())
    torch.testing.assert_close(s, b.sum(0))
    assert torch.equal(m[:, 0], b.amax(1))
