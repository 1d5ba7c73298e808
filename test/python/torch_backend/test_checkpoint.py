# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.utils.checkpoint within a compiled function and around one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from torch_backend.harness import assert_same, check, compile_with, run
from torch_backend.test_training import GatedMlp


class Checkpointed(nn.Module):
    """Blocks whose inner values are computed again in backward."""

    def __init__(self, blocks: int = 2) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(GatedMlp() for _ in range(blocks))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return F.silu(x) * 2


def saved_bytes(function: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """What a call keeps for backward."""
    sizes = {}

    def pack(tensor: Tensor) -> Tensor:
        sizes[tensor.data_ptr()] = tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        kept = function(x)
    del kept
    return sum(sizes.values())


def test_checkpoint_inside() -> None:
    recorder = check(Checkpointed(), torch.randn(3, 16, requires_grad=True), pipelines=None)
    assert recorder.pipelines


def test_checkpoint_inside_computes_again() -> None:
    """Inner values of blocks are not kept, only what goes into them."""
    model = Checkpointed()
    plain = nn.Sequential(*model.blocks)
    x = torch.randn(256, 16, requires_grad=True)
    calls = [compile_with(m)[0] for m in (model, plain)]
    for call in calls:
        call(x)
    # A block keeps 64 of gate and up, 16 of the norm a row; its input has 16.
    assert saved_bytes(calls[0], x) < saved_bytes(calls[1], x) - 256 * 64 * 4


def test_checkpoint_around() -> None:
    """The compiled part runs twice."""
    blocks = [GatedMlp(), GatedMlp()]
    compiled = [compile_with(block) for block in blocks]
    parameters = [p for block in blocks for p in block.parameters()]

    def stack(functions: list[Callable[[Tensor], Tensor]], x: Tensor) -> Tensor:
        for function in functions:
            x = checkpoint(function, x, use_reentrant=False)
        return x

    x = torch.randn(3, 16, requires_grad=True)
    calls = [call for call, _ in compiled]
    want = run(partial(stack, blocks), (x,), parameters)
    assert_same(run(partial(stack, calls), (x,), parameters), want)
    assert all(recorder.pipelines for _, recorder in compiled)


def test_reentrant_checkpoint_around() -> None:
    block = GatedMlp()
    call, recorder = compile_with(block)
    parameters = list(block.parameters())
    x = torch.randn(3, 16, requires_grad=True)
    results = [
        run(partial(checkpoint, f, use_reentrant=True), (x,), parameters) for f in (call, block)
    ]
    assert_same(*results)
    assert recorder.pipelines


@pytest.mark.parametrize("where", ["inside", "around"])
def test_checkpoint_draws_the_same_dropout_again(where: str) -> None:
    """The gradient is that of the mask that forward used."""

    def block(x: Tensor) -> Tensor:
        return F.dropout(F.silu(x) * 2, 0.5) * 3

    def inside(x: Tensor) -> Tensor:
        return checkpoint(block, x, use_reentrant=False)

    if where == "inside":
        call, recorder = compile_with(inside)
    else:
        inner, recorder = compile_with(block)
        call = partial(checkpoint, inner, use_reentrant=False)
    x = torch.full((64, 16), 1.5, requires_grad=True)
    output = call(x)
    (gradient,) = torch.autograd.grad(output.sum(), x)
    kept = output != 0
    assert 0.4 < kept.float().mean() < 0.6
    assert torch.equal(kept, gradient != 0)
    assert recorder.graphs


def test_checkpoint_with_several_inputs_and_outputs() -> None:
    def block(x: Tensor, w: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        y = F.silu(x @ w) * scale
        return y, torch.softmax(y, -1)

    def function(x: Tensor, w: Tensor) -> Tensor:
        a, b = checkpoint(block, x, w, 0.5, use_reentrant=False)
        return a * b + a

    x = torch.randn(3, 16, requires_grad=True)
    check(function, x, torch.randn(16, 16, requires_grad=True), pipelines=None)
