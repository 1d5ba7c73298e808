# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Captured CUDA graphs: their replays move the state on and quantize the weights that
there are then."""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

from .harness import RECIPES, WIDTH, FeedForward, compiled
from .test_delayed import state_of

pytestmark = pytest.mark.skipif(
    os.environ.get("FUSEOPS_TEST_DEVICE", "cpu") == "cpu", reason="needs a GPU"
)
STEPS = 6


def inputs(step: int) -> Tensor:
    torch.manual_seed(step)
    return torch.randn(96, WIDTH) * (1 + step)


@pytest.mark.parametrize("name", RECIPES)
def test_whole_steps(name: str) -> None:
    """Forward, backward and optimizer in one graph, against the same without."""
    models = [FeedForward() for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    calls = [compiled(model, RECIPES[name]) for model in models]
    optimizers = [torch.optim.SGD(model.parameters(), lr=1e-3) for model in models]
    results: list[list[Tensor]] = [[], []]

    def step(index: int, x: Tensor) -> Tensor:
        y = calls[index](x)
        y.square().sum().backward()
        optimizers[index].step()
        optimizers[index].zero_grad(set_to_none=False)
        return y.detach()

    for number in range(STEPS):
        results[0].append(step(0, inputs(number)).clone())

    static = inputs(0)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for number in range(2):
            static.copy_(inputs(number))
            results[1].append(step(1, static).clone())
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step(1, static)
    for number in range(2, STEPS):
        static.copy_(inputs(number))
        graph.replay()
        results[1].append(captured.clone())
    for a, b in zip(*results, strict=True):
        assert torch.equal(a, b)
    found, expected = map(state_of, models)
    assert all(torch.equal(found[key], expected[key]) for key in expected)
    # What runs without a graph after it has the weights of its last replay.
    with torch.no_grad():
        assert torch.equal(calls[0](static), calls[1](static))
