# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program says of a quantized argument whose scales do not fit its data."""

from __future__ import annotations

import pytest
import torch
from conformance import runner
from fuseops import FuseOpsError

from fp8.programs import TARGET, quantized
from fp8.rules import Rule

COL = quantized("?", 40, Rule("block<1x128>", "f8E4M3FN"), "col")
TEXT = f"""fuseops.fusible @main(%q: {COL}) -> tensor<?x40xf32>
attributes {{frozen_results = array<i64: 0>}} forward {{
  %x = fuseops.dequantize %q : {COL} -> tensor<?x40xf32>
  fuseops.return %x : tensor<?x40xf32>
}}"""


@pytest.mark.parametrize(("rows", "blocks"), [(1, 1), (128, 1), (129, 2), (300, 3)])
def test_number_of_blocks_that_rows_have(rows: int, blocks: int):
    program = runner.compile_ir(TEXT, TARGET)
    data = torch.ones(40, rows).to(torch.float8_e4m3fn)
    (x,), _ = program.forward(data, torch.full((blocks, 40), 0.5))
    assert x.shape == (rows, 40)
    assert torch.all(x == 0.5)
    with pytest.raises(FuseOpsError, match=rf"to have {blocks} elements in dimension 0, but got"):
        program.forward(data, torch.ones(blocks + 1, 40))


def test_rows_are_not_told_by_blocks_alone():
    text = """fuseops.fusible @main(%s: tensor<?x40xf32, #fuseops.blocks<128>>)
      -> tensor<?x40xf32, #fuseops.blocks<128>> forward {
      %y = fuseops.relu %s : tensor<?x40xf32, #fuseops.blocks<128>>
      fuseops.return %y : tensor<?x40xf32, #fuseops.blocks<128>>
    }"""
    with pytest.raises(FuseOpsError, match="expected entry `forward` to have an input with `"):
        runner.compile_ir(text, TARGET)
