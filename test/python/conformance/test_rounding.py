# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""With `round-intermediates` a fused program gives, bit for bit, what one program an operation
gives."""

import subprocess
from collections.abc import Sequence

import pytest
import torch
from conftest import BIN
from fuseops import emit
from torch import Tensor

from conformance import runner, table
from conformance.case import Case, tensor

OPERATIONS = [
    ("fuseops.gelu", "tanh"),
    ("fuseops.mul", "row"),
    ("fuseops.swiglu", "first"),
    ("fuseops.rms_norm", "gamma"),
    ("fuseops.softmax", ""),
]


def run(body: str, args: Sequence[Tensor], types: Sequence[str], result: str) -> Tensor:
    """A program of one operation, which makes %r0."""
    given = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    text = (
        f"fuseops.fusible @main({given}) -> {result} forward {{\n{body}\n"
        f"fuseops.return %r0 : {result}\n}}"
    )
    return runner.compile_ir(text).forward(*args)[0][0]


def stepwise(case: Case, arrays: Sequence[Tensor]) -> Tensor:
    """The first result of Case.chained, each operation in a program of its own."""
    scaled = []
    for array, arg in zip(arrays, case.args, strict=True):
        t = tensor(arg.shape, arg.dtype)
        scaled.append(run(f"%r0 = fuseops.scale %a0 by(0.75) : {t}", [array], [t], t))
    inner = runner.compile_ir(case.text()).forward(*scaled)[0][0]
    t = tensor(*case.results[0])
    outer = run(f"%r0 = fuseops.silu %a0 : {t}", [inner], [t], t)
    return run(f"%r0 = fuseops.add %a0, %a1 : {t}, {t} -> {t}", [outer, inner], [t, t], t)


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize(("op", "variant"), OPERATIONS)
def test_fused_and_rounded_is_unfused(op: str, variant: str, dtype: str):
    case = table.TABLE[op][variant].build(("M", 33), dtype)
    fused = emit(case.chained().text(), "ir", compile_to="fusion").decode()
    command = [BIN / "fuse-opt", "--convert-fuseops-to-kernels=target=cpu round-intermediates"]
    lowered = subprocess.run(command, input=fused, capture_output=True, text=True, check=True)
    arrays = case.samples(7, 0)
    got = runner.compile_ir(lowered.stdout).forward(*arrays)[0][0]
    assert torch.equal(got, stepwise(case, arrays))
    plain = runner.compile_ir(case.chained().text()).forward(*arrays)[0][0]
    assert not torch.equal(plain, got)
