# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout's mask is Philox4x32-10 of the element's number, the same everywhere."""

import numpy as np
import pytest
import runner
from cases import Shape, tensor
from philox import keep_mask, philox


@pytest.mark.parametrize(
    ("counter", "key", "want"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_known_answers(counter: list[int], key: list[int], want: list[int]):
    """The vectors that the authors of Philox published."""
    got = philox(np.array([counter], np.uint32), np.array([key], np.uint32))
    assert got[0].tolist() == want


def program_text(shape: Shape, dtype: str, p: float, body: str = "") -> str:
    """Dropout of x."""
    t = tensor(shape, dtype)
    body = body or f"%y = fuseops.dropout %x, %s p({p!r}) : {t}, tensor<2xi64>"
    return f"""fuseops.fusible @main(%x: {t}, %s: tensor<2xi64> {{fuseops.random_state}}) -> {t}
    forward {{
      {body}
      fuseops.return %y : {t}
    }}"""


STATES = [(0, 0), (1234, 5), (-1, -2), (0x123456789ABCDEF, 1 << 40)]


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64"])
@pytest.mark.parametrize(
    ("shape", "p"), [(("M", 100), 0.1), (("M", 7, 3), 0.5), ((301,), 0.9), (("M", 64), 0.0)]
)
def test_mask(shape: Shape, p: float, dtype: str, target: str):
    program = runner.compile_ir(program_text(shape, dtype, p), target)
    rng = np.random.default_rng(0)
    for seed, offset in STATES:
        extents = tuple(33 if d == "M" else d for d in shape)
        x = rng.uniform(1, 2, extents).astype(runner.DTYPES[dtype])
        dy = rng.uniform(1, 2, extents).astype(runner.DTYPES[dtype])
        keep = keep_mask(extents, seed, offset, p)
        (y,), saved = program.forward(x, np.array([seed, offset]))
        gradient, none = program.gradients([dy], saved)
        assert none is None
        for got, source in ((y, x), (gradient, dy)):
            np.testing.assert_array_equal(got.astype(np.float64) != 0, keep)
            want = np.where(keep, source.astype(np.float64) / (1 - p), 0)
            rtol = {"f32": 2e-7, "bf16": 2.0**-8, "f16": 2.0**-11, "f64": 3e-16}[dtype]
            np.testing.assert_allclose(got.astype(np.float64), want, rtol=rtol * 1.01)


def test_statistics():
    """Within 5 standard deviations of the binomial distribution."""
    rows, columns = 1024, 1000
    for p in (0.1, 0.5, 0.9):
        program = runner.compile_ir(program_text(("M", columns), "f32", p))
        x = np.ones((rows, columns), np.float32)
        counts = []
        for offset in range(3):
            (y,), _ = program.forward(x, np.array([42, offset]))
            counts.append(np.count_nonzero(y))
        sigma = np.sqrt(rows * columns * p * (1 - p))
        assert max(abs(c - rows * columns * (1 - p)) for c in counts) < 5 * sigma
        assert len(set(counts)) > 1


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_two_dropouts_of_a_program(target: str):
    """The second uses the next offset; both are fused with a norm, and recomputed in backward."""
    t = "tensor<?x40xf32>"
    body = f"""%a = fuseops.dropout %x, %s p(0.25) : {t}, tensor<2xi64>
      %n, %rstd = fuseops.rms_norm %a eps(0.01) : ({t}) -> ({t}, tensor<?x1xf32>)
      %s2 = fuseops.pointwise (%w = %s) : (tensor<2xi64>) -> tensor<2xi64> {{
        %i = fuseops.linear_index : i64
        %v = arith.addi %w, %i : i64
        fuseops.yield %v : i64
      }}
      %y = fuseops.dropout %n, %s2 p(0.5) : {t}, tensor<2xi64>"""
    program = runner.compile_ir(program_text(("M", 40), "f32", 0.0, body), target)
    x = np.random.default_rng(1).uniform(1, 2, (65, 40)).astype(np.float32)
    (y,), saved = program.forward(x, np.array([7, 3]))
    first, second = keep_mask(x.shape, 7, 3, 0.25), keep_mask(x.shape, 7, 4, 0.5)
    np.testing.assert_array_equal(y != 0, first & second)
    (gradient, _) = program.gradients([np.ones_like(x)], saved)
    np.testing.assert_array_equal(gradient == 0, ~first)


def test_dropped_infinity_is_zero():
    program = runner.compile_ir(program_text((64,), "f32", 0.5))
    (y,), _ = program.forward(np.full(64, np.inf, np.float32), np.array([0, 0]))
    np.testing.assert_array_equal(y, np.where(keep_mask((64,), 0, 0, 0.5), np.inf, 0))
