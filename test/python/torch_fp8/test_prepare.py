# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights are quantized once for each of their versions and each optimizer step."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from fuseops.program import Program
from fuseops.recipe import Rowwise
from torch import Tensor, nn

from .harness import RECIPES, WIDTH, FeedForward, compiled, run


@pytest.fixture
def prepares(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Tensor]]:
    """What weights were prepared from, call by call."""
    found: list[Sequence[Tensor]] = []
    run_prepare = Program.run_prepare

    def record(self: Program, tensors: Sequence[Tensor]) -> Any:
        found.append(tensors)
        return run_prepare(self, tensors)

    monkeypatch.setattr(Program, "run_prepare", record)
    return found


def fresh(model: nn.Module, x: Tensor, name: str) -> list[Tensor]:
    """What a model gives that nothing was kept for."""
    other = copy.deepcopy(model)
    torch._dynamo.reset()
    return run(compiled(other, RECIPES[name]), x, other)


@pytest.mark.parametrize("name", RECIPES)
def test_once_a_step(name: str, prepares: list[Any]) -> None:
    model = FeedForward()
    call = compiled(model, RECIPES[name])
    for optimizer in (
        torch.optim.SGD(model.parameters(), lr=0.01),
        torch.optim.AdamW(model.parameters(), lr=0.01, foreach=True),
        torch.optim.SGD(model.parameters(), lr=0.01, fused=True),
        torch.optim.AdamW(model.parameters(), lr=0.01, fused=True),
    ):
        for _ in range(3):
            del prepares[:]
            optimizer.zero_grad()
            for _ in range(4):
                call(torch.randn(96, WIDTH)).square().sum().backward()
            assert len(prepares) == 1
            optimizer.step()


def replace(model: FeedForward) -> None:
    model.down.weight = nn.Parameter(torch.randn_like(model.down.weight))


def write(model: FeedForward) -> None:
    with torch.no_grad():
        model.up.weight[3, 5] += 2.0


def swap(model: FeedForward) -> None:
    model.up.weight.data = torch.randn_like(model.up.weight)


def swap_twice(model: FeedForward) -> None:
    # The second may lie where the first one lay.
    for _ in range(2):
        model.up.weight.data = torch.randn_like(model.up.weight)


def load(model: FeedForward) -> None:
    model.load_state_dict({name: 2 * value for name, value in model.state_dict().items()})


def load_assign(model: FeedForward) -> None:
    state = {name: 2 * value for name, value in model.state_dict().items()}
    model.load_state_dict(state, assign=True)


def say_so(model: FeedForward) -> None:
    # A write that has no version.
    model.up.weight.data.mul_(2)
    torch.autograd.graph.increment_version(model.up.weight)


def set_memory(model: FeedForward) -> None:
    with torch.no_grad():
        model.up.weight.set_(torch.randn_like(model.up.weight))


CHANGES = [replace, write, swap, swap_twice, load, load_assign, say_so, set_memory]


@pytest.mark.parametrize("change", CHANGES)
def test_invalidation(change: Callable[[FeedForward], None], prepares: list[Any]) -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    call = compiled(model, RECIPES["block"])
    for _ in range(3):
        before = run(call, x, model)
        run(call, x, model)
        del prepares[:]
        change(model)
        found = run(call, x, model)
        assert len(prepares) == 1
        assert not torch.equal(found[0], before[0])
        assert all(map(torch.equal, run(call, x, model), found))
        assert len(prepares) == 1
    assert all(map(torch.equal, fresh(model, x, "block"), found))


def test_optimizers_of_copies(prepares: list[Any]) -> None:
    """Mixed precision's own way: parameters get their values back without a version."""
    model, x = FeedForward(), torch.randn(96, WIDTH)
    call = compiled(model, RECIPES["block"])
    copies = [p.detach().clone().requires_grad_() for p in model.parameters()]
    optimizer = torch.optim.SGD(copies, lr=0.1)
    run(call, x, model)
    for master, parameter in zip(copies, model.parameters(), strict=True):
        master.grad = parameter.grad
    optimizer.step()
    for master, parameter in zip(copies, model.parameters(), strict=True):
        parameter.data.copy_(master.detach())
    found = run(call, x, model)
    assert len(prepares) == 2
    assert all(map(torch.equal, fresh(model, x, "block"), found))


def test_models_have_their_own(prepares: list[Any]) -> None:
    models, x = [FeedForward(), FeedForward()], torch.randn(96, WIDTH)
    # Dynamo has one graph for both.
    calls = [compiled(model, RECIPES["block"]) for model in models]
    first = [run(call, x, model)[0] for call, model in zip(calls, models, strict=True)]
    assert not torch.equal(*first)
    second = [run(call, x, model)[0] for call, model in zip(calls, models, strict=True)]
    assert all(map(torch.equal, first, second))
    assert len(prepares) == 2


def test_no_grad(prepares: list[Any]) -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    call = compiled(model, RECIPES["rowwise"])
    with torch.no_grad():
        first = call(x)
        assert torch.equal(call(x), first)
    assert len(prepares) == 1
    write(model)
    with torch.no_grad():
        assert not torch.equal(call(x), first)
    assert len(prepares) == 2


def test_evaluation_leaves_the_state_to_training() -> None:
    models, x = [FeedForward(), FeedForward()], torch.randn(96, WIDTH)
    models[1].load_state_dict(models[0].state_dict())
    calls = [compiled(model, RECIPES["delayed"]) for model in models]
    for _ in range(4):
        with torch.no_grad():
            calls[1](x)
        results = [run(call, x, model) for call, model in zip(calls, models, strict=True)]
        assert all(map(torch.equal, *results))
        for model in models:
            write(model)
    assert torch.equal(models[0].up.fp8_weight_history, models[1].up.fp8_weight_history)
    assert models[0].up.fp8_weight_history.count_nonzero() == 4


def test_nothing_outlives_a_weight() -> None:
    model = FeedForward()
    call = compiled(model, Rowwise())
    run(call, torch.randn(96, WIDTH), model)
    from fuseops.torch.fp8_weights import _WEIGHTS  # noqa: PLC0415 (only here)

    kept = weakref.ref(_WEIGHTS[model.up.weight])
    replace(model)
    model.up.weight = nn.Parameter(model.up.weight.detach().clone())
    gc.collect()
    assert kept() is None


def test_weights_that_are_computed(prepares: list[Any]) -> None:
    weight = torch.randn(WIDTH, WIDTH, requires_grad=True)

    def scaled(x: Tensor, weight: Tensor) -> Tensor:
        return nn.functional.linear(x.sin(), torch.cumsum(weight, 0) / 8)

    call, x = compiled(scaled, RECIPES["current"]), torch.randn(96, WIDTH)
    first = call(x, weight)
    with torch.no_grad():
        weight *= 2
    assert torch.allclose(call(x, weight), 2 * first)
