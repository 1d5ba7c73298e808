# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modes of PyTorch, outside of a compiled function and in it: autocast, no_grad,
inference_mode."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torch_backend.harness import assert_same, check, compile_with, run


class Mlp(nn.Module):
    """A norm, which autocast leaves in f32, between products, which it casts."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(16, 32)
        self.norm = nn.LayerNorm(32)
        self.down = nn.Linear(32, 16, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.gelu(self.norm(self.up(x)))) * 2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_outside(dtype: torch.dtype) -> None:
    model = Mlp()
    x = torch.randn(4, 16, requires_grad=True)
    call, recorder = compile_with(model)
    parameters = list(model.parameters())
    with torch.autocast(x.device.type, dtype=dtype):
        want = run(model, (x,), parameters)
        got = run(call, (x,), parameters)
    assert got[0].dtype == dtype
    # Gradients that eager rounds to 8 bits, two or three times over.
    assert_same(got, want, ulps=8 * torch.finfo(dtype).eps / torch.finfo(torch.float32).eps)
    assert recorder.pipelines
    # Without it, another program.
    assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert len(recorder.graphs) == 2


def test_autocast_inside() -> None:
    """Its part is a pipeline of its own, or rounds as its part of one."""

    def function(x: Tensor, w: Tensor) -> Tensor:
        a = F.silu(x @ w)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            b = F.gelu(a @ w)
            with torch.autocast("cpu", enabled=False):
                c = torch.tanh(b.float() @ w)
        return (a + b) @ w + c

    x = torch.randn(4, 8, requires_grad=True)
    w = torch.randn(8, 8, requires_grad=True)
    call, recorder = compile_with(function)
    ulps = 8 * torch.finfo(torch.bfloat16).eps / torch.finfo(torch.float32).eps
    assert_same(run(call, (x, w)), run(function, (x, w)), ulps)
    assert recorder.pipelines
    assert not torch.is_autocast_enabled("cpu")


def test_no_grad_outside() -> None:
    """Nothing is saved, and no result needs a gradient."""
    model = Mlp()
    call, recorder = compile_with(model)
    x = torch.randn(4, 16, requires_grad=True)
    with torch.no_grad():
        output = call(x)
        assert_same(output, model(x))
    assert output.grad_fn is None
    (pipeline,) = recorder.pipelines
    assert all(not any(needs) for needs, _ in pipeline._programs)
    # Afterwards, gradients again.
    parameters = list(model.parameters())
    assert_same(run(call, (x,), parameters), run(model, (x,), parameters))


def test_no_grad_inside() -> None:
    """What it computes is a constant for the gradients of the rest."""

    def function(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        a = F.silu(x @ w)
        with torch.no_grad():
            scale = torch.tanh(a).sum()
        return a * scale, scale

    check(
        function,
        torch.randn(4, 8, requires_grad=True),
        torch.randn(8, 8, requires_grad=True),
        pipelines=None,
    )


def test_enable_grad_inside_no_grad() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            a = F.silu(x) * 2
            with torch.enable_grad():
                b = F.gelu(x) * 2
        return a, b

    check(function, torch.randn(4, 8, requires_grad=True), pipelines=None)


def test_detach_inside() -> None:
    def function(x: Tensor) -> Tensor:
        a = F.silu(x) * 2
        return a.detach() * x + torch.softmax(a, -1)

    check(function, torch.randn(4, 8, requires_grad=True), pipelines=None)


def test_inference_mode_outside() -> None:
    model = Mlp()
    call, recorder = compile_with(model)
    x = torch.randn(4, 16)
    with torch.inference_mode():
        output = call(x)
        assert_same(output, model(x))
    assert output.is_inference()
    assert recorder.pipelines
    # Inference tensors as inputs, with and without the mode.
    with torch.inference_mode():
        inner = torch.randn(4, 16)
        assert_same(call(inner), model(inner))
    with torch.no_grad():
        assert_same(call(inner), model(inner))
    parameters = list(model.parameters())
    x.requires_grad_()
    assert_same(run(call, (x,), parameters), run(model, (x,), parameters))


def test_inference_mode_inside() -> None:
    def function(x: Tensor) -> Tensor:
        with torch.inference_mode():
            return torch.softmax(F.silu(x) * 2, -1)

    x = torch.randn(4, 8, requires_grad=True)
    call, recorder = compile_with(function)
    output = call(x)
    assert_same(output, function(x))
    assert not output.requires_grad
    assert recorder.pipelines
    assert not torch.is_inference_mode_enabled()


def test_set_grad_enabled_inside_is_undone() -> None:
    def function(x: Tensor) -> Tensor:
        torch.set_grad_enabled(False)
        a = F.silu(x) * 2
        torch.set_grad_enabled(True)
        return a * x

    check(function, torch.randn(4, requires_grad=True), pipelines=None)
    assert torch.is_grad_enabled()


def test_modes_are_left_after_an_error() -> None:
    """A failed compile leaves no mode changed."""

    def function(x: Tensor, w: Tensor) -> Tensor:
        with torch.no_grad(), torch.autocast("cpu"):
            return F.silu(x) @ w

    call, _ = compile_with(function)
    with pytest.raises(Exception, match=r"shape|size"):
        call(torch.randn(2, 3), torch.randn(2, 3))
    assert torch.is_grad_enabled()
    assert not torch.is_autocast_enabled("cpu")
    check(function, torch.randn(2, 3), torch.randn(3, 2), pipelines=None, ulps=2**20)
