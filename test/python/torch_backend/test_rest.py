# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What no pipeline holds runs in Inductor's code or in eager PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters
from torch.nn import functional as F

from torch_backend.harness import assert_same, check, compile_with, run
from torch_backend.test_partition import mutate_inputs


class Attention(nn.Module):
    """Attention and a running count between pipelines."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.count.add_(1)
        shape = (*x.shape[:2], 2, 8)
        q, k, v = (t.view(shape).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        attended = torch.cumsum(F.scaled_dot_product_attention(q, k, v, is_causal=True), 1)
        y = F.gelu(self.out(attended.transpose(1, 2).reshape(x.shape))) + x
        return y, torch.sort(y.detach(), -1)[0] * 2


def num_inductor_graphs() -> int:
    """How many graphs Inductor compiled since the last test."""
    return counters["inductor"]["fxgraph_cache_miss"] + counters["inductor"]["fxgraph_cache_hit"]


@pytest.fixture(autouse=True)
def no_counts() -> None:
    """Starts to count."""
    counters.clear()


@pytest.mark.parametrize("rest", ["eager", "inductor"])
def test_rest(rest: str) -> None:
    model = Attention()
    recorder = check(model, torch.randn(2, 3, 16, requires_grad=True), rest=rest, pipelines=3)
    assert {"attended", "add_"} <= set(recorder.refused)
    assert (num_inductor_graphs() > 0) == (rest == "inductor")
    assert model.count == 2


def test_inductor_with_a_dynamic_batch() -> None:
    model = Attention()
    parameters = list(model.parameters())
    call, recorder = compile_with(model, "inductor")
    for size in (2, 3, 5):
        x = torch.randn(size, 3, 16, requires_grad=True)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert len(recorder.graphs) == 2


def test_inductor_with_writes() -> None:
    call, _ = compile_with(mutate_inputs, "inductor")
    results = []
    for f in (mutate_inputs, call):
        torch.manual_seed(0)
        x, y = torch.randn(4, 4), torch.randn(4, 4)
        results.append((f(x, y), x, y))
    assert_same(results[1], results[0])


def test_inductor_without_gradients() -> None:
    model = Attention()
    call, _ = compile_with(model, "inductor")
    x = torch.randn(2, 3, 16)
    with torch.no_grad():
        assert_same(call(x), model(x))


def test_inductor_under_autocast() -> None:
    def function(x: Tensor, w: Tensor) -> Tensor:
        return torch.softmax(torch.cumsum(F.silu(x @ w) * 2, 0) @ w, -1)

    x = torch.randn(4, 8, requires_grad=True)
    w = torch.randn(8, 8, requires_grad=True)
    call, recorder = compile_with(function, "inductor")
    ulps = 8 * torch.finfo(torch.bfloat16).eps / torch.finfo(torch.float32).eps
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert_same(run(call, (x, w)), run(function, (x, w)), ulps)
    assert recorder.pipelines
