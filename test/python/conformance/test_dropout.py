# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the table's cases do not see of dropout: its statistics, and several in one program."""

import numpy as np
import pytest
import torch
from philox import keep_mask, philox

from conformance import runner
from conformance.case import tensor


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


def program_text(columns: int, body: str, dtype: str = "f32") -> str:
    """A body that makes %y from %x and the random state %s."""
    t = tensor(("M", columns), dtype)
    return f"""fuseops.fusible @main(%x: {t}, %s: tensor<2xi64> {{fuseops.random_state}}) -> {t}
    forward {{
      {body}
      fuseops.return %y : {t}
    }}"""


@pytest.mark.parametrize("state", [(0, 0), (-1, -2), (0x123456789ABCDEF, 1 << 40)])
def test_every_bit_of_seed_and_offset_counts(state: tuple[int, int]):
    body = "%y = fuseops.dropout %x, %s p(0.5) : tensor<?x64xf32>, tensor<2xi64>"
    program = runner.compile_ir(program_text(64, body))
    (y,), _ = program.forward(torch.ones(33, 64), torch.tensor(state))
    np.testing.assert_array_equal(y != 0, keep_mask((33, 64), *state, 0.5))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("columns", [3, 64, 66, 68, 70, 96])
def test_neighbours_share_a_counter(columns: int, dtype: str):
    """Four of them; not where a row begins within four, nor past the last vector."""
    t = tensor(("M", columns), dtype)
    body = f"%y = fuseops.dropout %x, %s p(0.5) : {t}, tensor<2xi64>"
    program = runner.compile_ir(program_text(columns, body, dtype))
    x = torch.arange(1, 7 * columns + 1).reshape(7, columns) % 128 + 1
    x = x.to(torch.bfloat16 if dtype == "bf16" else torch.float32)
    (y,), saved = program.forward(x, torch.tensor([5, 6]))
    kept = torch.from_numpy(keep_mask((7, columns), 5, 6, 0.5))
    torch.testing.assert_close(y, torch.where(kept, 2 * x, 0 * x), rtol=0, atol=0)
    (gradient, _) = program.gradients([x], saved)
    torch.testing.assert_close(gradient, torch.where(kept, 2 * x, 0 * x), rtol=0, atol=0)


def test_statistics():
    """Within 5 standard deviations of the binomial distribution."""
    rows, columns = 1024, 1000
    for p in (0.1, 0.5, 0.9):
        body = f"%y = fuseops.dropout %x, %s p({p}) : tensor<?x{columns}xf32>, tensor<2xi64>"
        program = runner.compile_ir(program_text(columns, body))
        counts = []
        for offset in range(3):
            (y,), _ = program.forward(torch.ones(rows, columns), torch.tensor([42, offset]))
            counts.append(int(y.count_nonzero()))
        sigma = (rows * columns * p * (1 - p)) ** 0.5
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
    program = runner.compile_ir(program_text(40, body), target)
    x = torch.rand(65, 40, generator=torch.Generator().manual_seed(1)) + 1
    (y,), saved = program.forward(x, torch.tensor([7, 3]))
    first, second = keep_mask(x.shape, 7, 3, 0.25), keep_mask(x.shape, 7, 4, 0.5)
    np.testing.assert_array_equal(y != 0, first & second)
    (gradient, _) = program.gradients([torch.ones(65, 40)], saved)
    np.testing.assert_array_equal(gradient == 0, ~first)
