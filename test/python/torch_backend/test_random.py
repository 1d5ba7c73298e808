# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout in compiled functions."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torch_backend.harness import check, compile_with

ROWS = 512


class Model(nn.Module):
    """Dropout between pointwise operators."""

    def __init__(self, probability: float = 0.25) -> None:
        super().__init__()
        self.dropout = nn.Dropout(probability)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(F.silu(x) * 2) * 3


@pytest.fixture
def x() -> Tensor:
    """Of one value, so that what is dropped is seen."""
    return torch.full((ROWS, 32), 1.5, requires_grad=True)


def test_dropout_is_in_a_pipeline(x: Tensor) -> None:
    call, recorder = compile_with(Model())
    call(x)
    (pipeline,) = recorder.pipelines
    assert "dropout" in pipeline.source((True,))
    assert not recorder.refused


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_dropout_mean_and_variance(probability: float, x: Tensor) -> None:
    call, _ = compile_with(Model(probability))
    output = call(x).detach().double()
    want = (F.silu(x.detach()) * 6).double()
    count = output.numel()
    # Bernoulli: the mean stays, the variance is p / (1 - p); five deviations.
    deviation = (probability / (1 - probability)) ** 0.5
    relative = output / want
    assert abs(relative.mean() - 1) < 5 * deviation / count**0.5
    assert relative.var().item() == pytest.approx(deviation**2, rel=0.1)
    values = relative.unique()
    assert values.tolist() == pytest.approx([0, 1 / (1 - probability)], rel=1e-5)
    # Neither rows nor columns share their draws.
    for dim in (0, 1):
        assert (relative.mean(dim) - 1).abs().max() < 8 * deviation / relative.shape[dim] ** 0.5


def test_dropout_has_the_same_mask_in_backward(x: Tensor) -> None:
    call, _ = compile_with(Model())
    outputs = [call(x) for _ in range(2)]
    # In the order of calls or not.
    for output in reversed(outputs):
        (gradient,) = torch.autograd.grad(output.sum(), x)
        assert torch.equal(output != 0, gradient != 0)


def test_dropout_differs_per_call(x: Tensor) -> None:
    call, _ = compile_with(Model())
    assert (call(x) != call(x)).float().mean() > 0.2


def test_two_dropouts_of_one_call_differ(x: Tensor) -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = F.silu(x) * 2
        return F.dropout(y, 0.25), F.dropout(y, 0.25)

    call, _ = compile_with(function)
    a, b = call(x)
    assert (a != b).float().mean() > 0.2


def test_dropout_is_seeded_by_manual_seed(x: Tensor) -> None:
    call, _ = compile_with(Model())
    call(x)
    torch.manual_seed(3)
    first = call(x), call(x)
    torch.manual_seed(3)
    second = call(x), call(x)
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])
    torch.manual_seed(4)
    assert not torch.equal(first[0], call(x))


def test_dropout_in_a_forked_generator(x: Tensor) -> None:
    """What runs in between leaves no trace in the generator."""
    call, _ = compile_with(Model())
    call(x)
    torch.manual_seed(3)
    with torch.random.fork_rng():
        first = call(x)
    assert torch.equal(first, call(x))


def test_dropout_in_eval(x: Tensor) -> None:
    model = Model().eval()
    check(model, x)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_dropout_of_nothing_and_of_all(probability: float, x: Tensor) -> None:
    check(Model(probability), x)


def test_random_operators_in_the_rest_keep_their_order() -> None:
    """Their draws are those of eager, as no pipeline draws between them."""

    def function(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a = F.silu(x) + torch.rand_like(x)
        b = torch.cumsum(a, 0) * torch.randn(4, device=x.device)
        return a, b, torch.bernoulli(torch.sigmoid(b))

    x = torch.randn(3, 4)
    call, recorder = compile_with(function)
    torch.manual_seed(5)
    want = function(x)
    torch.manual_seed(5)
    got = call(x)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)
    assert recorder.pipelines
