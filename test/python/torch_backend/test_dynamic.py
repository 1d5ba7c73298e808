# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that change from call to call are no reason to compile again."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torch_backend.harness import assert_same, compile_with, run
from torch_backend.test_training import GatedMlp

SIZES = (2, 3, 5, 17)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_dynamic_batch_compiles_once(requires_grad: bool) -> None:
    model = GatedMlp()
    parameters = list(model.parameters())
    call, recorder = compile_with(model, dynamic=True)
    for size in SIZES:
        x = torch.randn(size, 16, requires_grad=requires_grad)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert len(recorder.graphs) == 1
    (pipeline,) = recorder.pipelines
    assert len(pipeline._programs) == 1


def test_second_size_makes_the_batch_dynamic() -> None:
    """As Dynamo does by itself: one program for the first size, one for all others."""
    model = GatedMlp()
    parameters = list(model.parameters())
    call, recorder = compile_with(model)
    for size in SIZES:
        x = torch.randn(size, 16)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert len(recorder.graphs) == 2


def test_sizes_0_and_1_are_special() -> None:
    """As torch specialises them."""
    model = GatedMlp()
    parameters = list(model.parameters())
    call, recorder = compile_with(model, dynamic=True)
    for size in (4, 1, 0, 9, 1, 0):
        x = torch.randn(size, 16, requires_grad=True)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert len(recorder.graphs) == 3


def test_mark_dynamic() -> None:
    model = GatedMlp()
    call, recorder = compile_with(model)
    for size in SIZES:
        x = torch.randn(size, 16)
        torch._dynamo.mark_dynamic(x, 0)
        assert_same(call(x), model(x))
    assert len(recorder.graphs) == 1


def test_batch_of_sequences() -> None:
    """Only the outermost of three sizes is symbolic."""
    model = GatedMlp()
    parameters = list(model.parameters())
    call, recorder = compile_with(model)
    for size in SIZES:
        x = torch.randn(size, 5, 16, requires_grad=True)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert len(recorder.graphs) == 2
    assert len(recorder.pipelines) == 2


class Folded(nn.Module):
    """Folds batch and length into rows by a size that Dynamo computes."""

    def __init__(self) -> None:
        super().__init__()
        self.mlp = GatedMlp()

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        rows = self.mlp(x.reshape(batch * length, width))
        return rows.view(batch, length, width) + x


def test_computed_size() -> None:
    model = Folded()
    parameters = list(model.parameters())
    call, recorder = compile_with(model)
    for size in SIZES:
        x = torch.randn(size, 5, 16, requires_grad=True)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert [len(graph.taken) for graph in recorder.graphs] == [1, 1]


def test_batch_and_sequence() -> None:
    """A program has one symbolic size: what has two runs in the rest."""
    model = Folded()
    parameters = list(model.parameters())
    call, recorder = compile_with(model, dynamic=True)
    for batch, length in ((2, 3), (3, 4), (5, 7)):
        x = torch.randn(batch, length, 16, requires_grad=True)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert len(recorder.graphs) == 1


@pytest.mark.parametrize("layout", ["packed", "transposed"])
def test_rows_that_are_a_multiple_of_the_batch(layout: str) -> None:
    """Within a pipeline, and where one takes or gives them."""

    def function(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        rows = F.silu(x).view(-1, x.shape[-1]) @ w
        mixed = torch.cumsum(rows.t() if layout == "transposed" else rows, 0)
        return torch.tanh(rows) * 2, F.gelu(mixed) * mixed, torch.softmax(rows.view_as(x), -1)

    call, recorder = compile_with(function)
    w = torch.randn(16, 16, requires_grad=True)
    for size in SIZES:
        x = torch.randn(size, 5, 16, requires_grad=True)
        assert_same(run(call, (x, w)), run(function, (x, w)))
    assert len(recorder.graphs) == 2
    assert [len(graph.taken) for graph in recorder.graphs] == [2, 2]
    assert len(recorder.refused) == 1


def test_size_as_a_value() -> None:
    """A factor computed from a symbolic size, and a size given as an argument."""

    def function(x: Tensor, rows: int) -> Tensor:
        y = F.silu(x) * x.shape[0]
        return torch.tanh(y.view(rows, -1)) / rows

    call, recorder = compile_with(function)
    for size in SIZES:
        x = torch.randn(size, 16, requires_grad=True)
        assert_same(run(call, (x, 4)), run(function, (x, 4)))
    assert len(recorder.graphs) == 2


def test_dynamic_rest() -> None:
    """The rest between pipelines has symbolic sizes too."""

    def function(x: Tensor) -> Tensor:
        a = torch.cumsum(F.silu(x) * 2, 0)
        return torch.softmax(a, -1) + a.sum(0)

    call, recorder = compile_with(function)
    for size in SIZES:
        x = torch.randn(size, 16, requires_grad=True)
        assert_same(run(call, (x,)), run(function, (x,)))
    assert len(recorder.graphs) == 2
    assert len(recorder.pipelines) == 4
