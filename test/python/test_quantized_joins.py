# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices that are joined and then quantized give, bit by bit, what one matrix gives
that is all of them: on the CPU, and by CUDA's kernels of tiles on the simulator."""

from __future__ import annotations

import re
from dataclasses import dataclass

import fuseops
import launch_plan
import numpy as np
import pytest
import torch

JOINED = """
fuseops.fusible @main(%a: PART, %b: PARTSCALE) -> (QUANTIZED, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %0 = fuseops.relu %a : PART
  %1 = fuseops.pointwise (%x = %b) : (PART) -> PART {
    %n = arith.negf %x : f32
    fuseops.yield %n : f32
  }
  %c = fuseops.concat %0, %1 dim(DIM) : (PART, PART) -> WHOLE
  %q = fuseops.quantize %cGIVEN -> QUANTIZED
  %m = fuseops.amax %c : WHOLE -> tensor<f32>
  fuseops.return %q, %m : QUANTIZED, tensor<f32>
}
"""
WHOLE = """
fuseops.fusible @main(%c: WHOLESCALE) -> (QUANTIZED, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %q = fuseops.quantize %cGIVEN -> QUANTIZED
  %m = fuseops.amax %c : WHOLE -> tensor<f32>
  fuseops.return %q, %m : QUANTIZED, tensor<f32>
}
"""


@dataclass
class Case:
    scale: str
    columns: int
    """Of each part."""
    format: str = "f8E4M3FN"
    height: int = 0
    """Rows of each part where rows are joined; else columns are, of any rows."""

    @property
    def is_given(self) -> bool:
        return self.scale == "per_tensor"

    def write(self, program: str) -> str:
        part = f"{self.height or '?'}x{self.columns}"
        whole = f"{2 * self.height}x{self.columns}" if self.height else f"?x{2 * self.columns}"
        given = " scale(%s) : (WHOLE, tensor<f32>)" if self.is_given else " : (WHOLE)"
        for word, text in {
            "GIVEN": given,
            "SCALE": ", %s: tensor<f32>" if self.is_given else "",
            "QUANTIZED": f"!fuseops.quantized<{whole}x{self.format}, scale = {self.scale}, "
            "copies = row_col>",
            "WHOLE": f"tensor<{whole}xbf16>",
            "PART": f"tensor<{part}xbf16>",
            "DIM": "0" if self.height else "1",
        }.items():
            program = program.replace(word, text)
        return program


CASES = {
    "per_tensor": Case("per_tensor", 128),
    "per_tensor e5m2": Case("per_tensor", 136, "f8E5M2"),
    "per_tensor odd": Case("per_tensor", 37),
    "block<1x128>": Case("block<1x128>", 256),
    "block<128x128>": Case("block<128x128>", 512),
    "mx<1x32>": Case("mx<1x32>", 160),
    "rows per_tensor": Case("per_tensor", 192, height=128),
    "rows block<1x128>": Case("block<1x128>", 192, height=128),
}


def make_parts(
    case: Case, rows: int, seed: int, has_nan: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shape = (case.height or rows, case.columns)
    # Of many magnitudes, so that each block has a scale of its own.
    parts = [
        torch.randn(shape, generator=generator)
        * torch.exp2(torch.randint(-12, 12, shape, generator=generator))
        for _ in range(2)
    ]
    if has_nan:
        parts[1][-1, -1] = torch.nan
        parts[1][0, 0] = torch.inf
    first, second = (part.bfloat16() for part in parts)
    return first, second


def join(case: Case, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.relu(a), -b], dim=0 if case.height else 1)


def bits(tensor: torch.Tensor) -> np.ndarray:
    return tensor.reshape(-1).contiguous().view(torch.uint8).numpy()


SCALE = torch.tensor(0.75)


@pytest.mark.parametrize("rows", [1, 7, 127, 130, 300])
@pytest.mark.parametrize("name", CASES)
def test_cpu(name: str, rows: int):
    case = CASES[name]
    joined, whole = (fuseops.compile_ir(case.write(program)) for program in (JOINED, WHOLE))
    given = [SCALE] if case.is_given else []
    for has_nan in (False, True):
        a, b = make_parts(case, rows, rows, has_nan)
        found, _ = joined.forward(a, b, *given)
        expected, _ = whole.forward(join(case, a, b), *given)
        for one, other in zip(found, expected, strict=True):
            # NaN is NaN, whichever.
            assert one.shape == other.shape
            assert torch.equal(
                torch.nan_to_num(one.float(), nan=-1.0), torch.nan_to_num(other.float(), nan=-1.0)
            )
        assert bool(torch.isnan(found[-1])) == has_nan


def simulate(
    program: str, rows: int, given: list[np.ndarray]
) -> tuple[list[launch_plan.Launch], list[np.ndarray]]:
    """The launches, and the program's results."""
    target = "cuda:sm_90a"
    text = fuseops.emit(program, "ir", target=target, compile_to="lowering").decode()
    plan = launch_plan.parse(text, rows)
    ptx = fuseops.emit(program, "ptx", target=target).decode()
    outputs, _ = launch_plan.run_all(plan, ptx, rows, late=True, given=given)
    names = [name for launch in plan for name in launch.results]
    written = dict(zip(names, outputs, strict=True))
    returned = re.search(r"fuseops\.return ([^\n]*?)( save\([^)]*\))? :", text)
    return plan, [written[name] for name in returned.group(1).split(", ")]


@pytest.mark.parametrize("name", [name for name in CASES if not CASES[name].height])
def test_cuda(name: str):
    case, rows = CASES[name], 130
    a, b = make_parts(case, rows, rows, has_nan=False)
    scale = [bits(SCALE)] if case.is_given else []
    plan, found = simulate(case.write(JOINED), rows, [bits(a), bits(b), *scale])
    _, expected = simulate(case.write(WHOLE), rows, [bits(join(case, a, b)), *scale])
    # One kernel reads the parts and writes all, and no other reads a matrix.
    matrices = [launch.name for launch in plan if "bf16" in " ".join(launch.inputs)]
    assert matrices == ["forward_0"]
    assert not any("bf16" in kind for launch in plan for kind in launch.outputs)
    assert len(found) == 5
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)
