# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Delayed scaling against an eager implementation of its rules
(docs/Dialect/Fp8Semantics.md), and where its state lives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import fuseops
import pytest
import torch
import torch.nn.functional as F
from fuseops.recipe import DelayedScaling, Format
from fuseops.torch.backend import fuseops_backend
from torch import Tensor, nn

from .harness import WIDTH, FeedForward, compiled, distance, run

LARGEST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0}
ROLES = ("input", "weight", "output_gradient")


class Rules:
    """One tensor by the rules `fp8_h1` to `fp8_h3`, `fp8_a1` and `fp8_s2`."""

    def __init__(self, recipe: DelayedScaling, dtype: torch.dtype) -> None:
        self.scale, self.history = torch.ones(()), torch.zeros(recipe.amax_history_len)
        self._recipe, self.dtype = recipe, dtype

    def quantized(self, x: Tensor) -> Tensor:
        """The values that FP8 has for those of x."""
        largest = LARGEST[self.dtype]
        data = (x.float() * self.scale).clamp(-largest, largest).to(self.dtype)
        return data.float() * self.scale.reciprocal()

    def move_on(self, x: Tensor) -> None:
        """After a call in which the tensor was x."""
        amax = x.detach().abs().max().float()
        self.history = torch.cat([self.history[1:], amax[None]])
        if self._recipe.amax_compute_algo == "max":
            amax = self.history.max()
        if amax > 0 and amax.isfinite():
            # Not a number by a tensor, which PyTorch multiplies by its reciprocal.
            scale = torch.tensor(LARGEST[self.dtype] * 2.0**-self._recipe.margin) / amax
            self.scale = scale.clamp(max=torch.finfo(torch.float32).max)


def rules_of(recipe: DelayedScaling) -> dict[str, Rules]:
    """Those of the three tensors of a layer."""
    is_hybrid = recipe.fp8_format is Format.HYBRID
    gradient = torch.float8_e5m2 if is_hybrid else torch.float8_e4m3fn
    formats = (torch.float8_e4m3fn, torch.float8_e4m3fn, gradient)
    return {role: Rules(recipe, f) for role, f in zip(ROLES, formats, strict=True)}


def check_state(layer: nn.Linear, rules: dict[str, Rules]) -> None:
    """Compares bit for bit."""
    for role, rule in rules.items():
        scale, history = (getattr(layer, f"fp8_{role}_{what}") for what in ("scale", "history"))
        assert torch.equal(scale, rule.scale), (role, scale, rule.scale)
        assert torch.equal(history, rule.history), role


class Traced(nn.Module):
    """A feed forward layer that gives what its second linear layer takes; what is
    added to the results of both has their gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(64, 96), nn.Linear(96, 32, bias=False)

    def forward(self, x: Tensor, add: Tensor, add_down: Tensor) -> tuple[Tensor, Tensor]:
        h = F.silu(self.up(x) + add)
        return self.down(h) + add_down, h


@pytest.mark.parametrize(
    "recipe",
    [
        DelayedScaling(amax_history_len=1),
        DelayedScaling(amax_history_len=16, margin=1),
        DelayedScaling(amax_history_len=16, amax_compute_algo="most_recent"),
        DelayedScaling(amax_history_len=8, fp8_format=Format.E4M3),
    ],
    ids=["one", "margin", "most_recent", "e4m3"],
)
def test_fifty_steps_fp8_h1_h2_h3(recipe: DelayedScaling) -> None:
    """Row 6: scales and histories equal bit for bit after every step."""
    model = Traced()
    call = compiled(model, recipe)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    rules = {name: rules_of(recipe) for name in ("up", "down")}
    for step in range(50):
        x = torch.randn(48, 64) * 2.0 ** (step % 7 - 4)
        if step in (20, 21):
            # Amaxes are 0, and then infinite; the weights stay as they are.
            x = torch.zeros_like(x) if step == 20 else x * float("inf")
        adds = [torch.zeros(48, n, requires_grad=True) for n in (96, 32)]
        up, down = model.up.weight.detach().clone(), model.down.weight.detach().clone()
        y, h = call(x, *adds)
        target = torch.randn_like(y)
        loss = (y - target).square().mean() * 100
        # A weight is quantized once, and counts once, however often it's used.
        is_new = step not in (21, 22)
        if is_new:
            weight = rules["down"]["weight"].quantized(down)
        expected = rules["down"]["input"].quantized(h) @ weight.T
        if step not in (20, 21):
            # Fast accumulation keeps about 13 bits below the largest addend.
            assert distance(y.detach(), expected) < (16 * 2**-13 if y.is_cuda else 1e-5)
        optimizer.zero_grad()
        loss.backward()
        tensors = {"up": (x, up, adds[0].grad), "down": (h, down, adds[1].grad)}
        for name, found in tensors.items():
            for role, tensor in zip(ROLES, found, strict=True):
                if role != "weight" or is_new:
                    rules[name][role].move_on(tensor)
            check_state(getattr(model, name), rules[name])
        if step not in (20, 21):
            optimizer.step()
    assert all(rule.scale != 1 for of in rules.values() for rule in of.values())


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """A copy of all state."""
    return {name: b.clone() for name, b in model.named_buffers() if "fp8_" in name}


def is_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> bool:
    return found.keys() == expected.keys() and all(
        torch.equal(found[name], expected[name]) for name in found
    )


RECIPE = DelayedScaling(amax_history_len=4)


def train(call: Callable[..., Any], model: nn.Module, seeds: range) -> list[Tensor]:
    """One step of SGD for each seed; the results."""
    results = []
    for seed in seeds:
        torch.manual_seed(seed)
        results += run(call, torch.randn(96, WIDTH), model)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(parameter.grad, alpha=1e-3)
    return results


def test_state_is_in_buffers() -> None:
    model = FeedForward()
    train(compiled(model, RECIPE), model, range(2))
    names = [f"{layer}.fp8_{role}_" for layer in ("up", "down") for role in ROLES]
    expected = {name + what for name in names for what in ("scale", "history")}
    assert set(state_of(model)) == expected
    assert expected < set(model.state_dict())


def test_state_dict() -> None:
    model = FeedForward()
    call = compiled(model, RECIPE)
    train(call, model, range(3))
    saved = copy.deepcopy(model.state_dict())
    expected = train(call, model, range(3, 5))
    # Into the same model, in place and by other tensors.
    for assign in (False, True):
        model.load_state_dict(copy.deepcopy(saved), assign=assign)
        assert all(map(torch.equal, train(call, model, range(3, 5)), expected))
    # Into another one, which has buffers only once it has run.
    torch._dynamo.reset()
    other = FeedForward()
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\).*fp8_input_scale"):
        other.load_state_dict(saved)
    other_call = compiled(other, RECIPE)
    train(other_call, other, range(1))
    other.load_state_dict(saved)
    assert all(map(torch.equal, train(other_call, other, range(3, 5)), expected))


def test_deepcopy() -> None:
    model = FeedForward()
    train(compiled(model, RECIPE), model, range(3))
    other = copy.deepcopy(model)
    before = state_of(model)
    expected = train(compiled(model, RECIPE), model, range(3, 5))
    after = state_of(model)
    assert is_same(state_of(other), before)
    assert all(map(torch.equal, train(compiled(other, RECIPE), other, range(3, 5)), expected))
    assert is_same(state_of(other), after)
    assert is_same(state_of(model), after)


def test_dtype_of_the_model_changes() -> None:
    model = FeedForward()
    train(compiled(model, RECIPE), model, range(3))
    model.bfloat16()
    assert model.up.fp8_input_scale.dtype == torch.bfloat16
    torch._dynamo.reset()
    run(compiled(model, RECIPE), torch.randn(96, WIDTH, dtype=torch.bfloat16), model)
    assert model.up.fp8_input_scale.dtype == torch.float32


def test_history_length_changes() -> None:
    model = FeedForward()
    train(compiled(model, RECIPE), model, range(6))
    newest = model.up.fp8_input_history[-2:].clone()
    torch._dynamo.reset()
    train(compiled(model, DelayedScaling(amax_history_len=3)), model, range(6, 7))
    assert torch.equal(model.up.fp8_input_history[:2], newest)


def test_only_training_moves_the_state_on() -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    call = compiled(model, RECIPE)
    train(call, model, range(3))
    run(call, torch.randn(96, WIDTH), model)
    before = state_of(model)
    with torch.no_grad():
        call(x * 100)
    with torch.inference_mode():
        call(x * 100)
    assert is_same(state_of(model), before)
    # Graphs of another batch size have the same state.
    call(torch.randn(33, WIDTH)).sum().backward()
    assert not is_same(state_of(model), before)
    assert torch.equal(model.up.fp8_input_history[:-1], before["up.fp8_input_history"][1:])


def test_each_microbatch_moves_the_state_on() -> None:
    model = FeedForward()
    call = compiled(model, RECIPE)
    amaxes = []
    for _ in range(3):
        x = torch.randn(96, WIDTH)
        amaxes.append(x.abs().max())
        call(x).square().sum().backward()
    assert torch.equal(model.up.fp8_input_history[1:], torch.stack(amaxes))


def test_two_forwards_before_their_backwards() -> None:
    model = FeedForward()
    call = compiled(model, RECIPE)
    train(call, model, range(3))
    scale = model.up.fp8_input_scale.clone()
    first, second = torch.randn(96, WIDTH), 3 * torch.randn(96, WIDTH)
    results = [call(first), call(second)]
    for result in results:
        result.square().sum().backward()
    amaxes = [first.abs().max(), second.abs().max()]
    assert torch.equal(model.up.fp8_input_history[2:], torch.stack(amaxes))
    assert model.up.fp8_input_scale != scale
    assert model.down.fp8_output_gradient_history.count_nonzero() == 4


@pytest.mark.parametrize("kind", ["inside", "around", "reentrant"])
def test_checkpoint_counts_an_amax_once(kind: str) -> None:
    models = [FeedForward() for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    expected = train(compiled(models[0], RECIPE), models[0], range(4))
    torch._dynamo.reset()
    checkpoint, model = torch.utils.checkpoint.checkpoint, models[1]
    if kind == "inside":
        call = compiled(lambda x: checkpoint(model, x, use_reentrant=False), RECIPE)
    else:
        inner = compiled(model, RECIPE)
        is_reentrant = kind == "reentrant"

        def call(x: Tensor) -> Tensor:
            return checkpoint(inner, x, use_reentrant=is_reentrant)

    found = train(call, model, range(4))
    assert all(map(torch.equal, found, expected))
    assert is_same(state_of(model), state_of(models[0]))


def test_layers_called_twice_have_two_states() -> None:
    layer = nn.Linear(WIDTH, WIDTH)
    call = compiled(lambda x: layer(layer(x).relu()), RECIPE)
    x = torch.randn(96, WIDTH)
    call(x).square().sum().backward()
    assert layer.fp8_input_history[-1] == x.abs().max()
    again = layer(x).relu().abs().max()
    assert distance(layer.fp8_1_input_history[-1], again) < 0.1
    # A weight is one tensor.
    assert not hasattr(layer, "fp8_1_weight_history")


def test_tied_weights() -> None:
    """The state is the linear layer's."""
    table, head = nn.Embedding(32, WIDTH), nn.Linear(WIDTH, 32, bias=False)
    head.weight = table.weight
    call = compiled(lambda tokens: head(table(tokens).sin()), RECIPE)
    call(torch.randint(32, (96,))).square().sum().backward()
    assert head.fp8_weight_scale != 1
    assert not list(table.buffers())


def test_functions_hold_their_state() -> None:
    weight = torch.randn(WIDTH, WIDTH, requires_grad=True)
    call = compiled(F.linear, RECIPE)
    x = torch.randn(96, WIDTH)
    first, second = call(x, weight), call(x, weight)
    first.sum().backward()
    exact = F.linear(x, weight)
    assert distance(second.detach(), exact.detach()) < 0.1
    assert not torch.equal(first, second)


def test_inductor_refuses_state() -> None:
    model = FeedForward()
    call = torch.compile(model, backend=fuseops_backend, mode="reduce-overhead")
    with (
        fuseops.autocast(recipe=RECIPE),
        pytest.raises(Exception, match="expected a recipe without state"),
    ):
        call(torch.randn(96, WIDTH))
