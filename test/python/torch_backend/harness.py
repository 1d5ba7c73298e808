# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what the backend of torch.compile makes of a function with eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from fuseops.torch.backend import Compiled, Options, compile_graph
from torch.utils import _pytree as pytree

# How many units in the last place of the largest value may lie between two
# orders of the same sums and products.
ULPS = 32


class Recorder:
    """The backend, which keeps what became of each graph."""

    def __init__(self, rest: str = "eager") -> None:
        self._options = Options(rest=rest)
        self.graphs: list[Compiled] = []

    def __call__(self, module: torch.fx.GraphModule, examples: Sequence[Any]) -> Any:
        call, compiled = compile_graph(module, self._options)
        self.graphs.append(compiled)
        return call

    def __deepcopy__(self, memo: dict[int, Any]) -> Recorder:
        # A compiled module holds its backend.
        return self

    @property
    def pipelines(self) -> list[Any]:
        """Those of all graphs."""
        return [taken.pipeline for graph in self.graphs for taken in graph.taken]

    @property
    def refused(self) -> dict[str, str]:
        """The nodes of all graphs that no pipeline holds, and why."""
        return {node.name: why for graph in self.graphs for node, why in graph.refused.items()}


def compile_with(
    function: Callable[..., Any], rest: str = "eager", **options: Any
) -> tuple[Callable[..., Any], Recorder]:
    """`function` compiled, by default as one graph, and what became of it."""
    recorder = Recorder(rest)
    return torch.compile(function, backend=recorder, **{"fullgraph": True, **options}), recorder


def leaves_of(values: Any) -> list[torch.Tensor]:
    """The tensors in a structure."""
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def weighted_sum(outputs: Any) -> torch.Tensor:
    """A loss to which each element of each differentiable output contributes
    differently."""
    losses = []
    for output in leaves_of(outputs):
        if output.requires_grad:
            places = torch.arange(output.numel(), dtype=torch.float64, device=output.device)
            losses.append((output.double() * torch.cos(places.reshape(output.shape))).sum())
    return sum(losses)


def run(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    parameters: Sequence[torch.Tensor] = (),
    loss: Callable[[Any], torch.Tensor] = weighted_sum,
) -> tuple[Any, list[torch.Tensor | None]]:
    """Outputs and the gradients of inputs and parameters; gradients that were in
    parameters are lost."""
    fresh = pytree.tree_map(
        lambda value: (
            value.detach().requires_grad_(value.requires_grad)
            if isinstance(value, torch.Tensor)
            else value
        ),
        inputs,
    )
    for parameter in parameters:
        parameter.grad = None
    outputs = function(*fresh)
    if any(output.requires_grad for output in leaves_of(outputs)):
        loss(outputs).backward()
    gradients = [leaf.grad for leaf in (*leaves_of(fresh), *parameters)]
    return outputs, gradients


def check(
    function: Callable[..., Any],
    *inputs: Any,
    rest: str = "eager",
    loss: Callable[[Any], torch.Tensor] = weighted_sum,
    ulps: float = ULPS,
    pipelines: int | None = 1,
    **options: Any,
) -> Recorder:
    """Checks outputs and gradients of a function or module, and that it became
    `pipelines` pipelines, None for any number above 0."""
    parameters = list(function.parameters()) if isinstance(function, torch.nn.Module) else []
    call, recorder = compile_with(function, rest, **options)
    want = run(function, inputs, parameters, loss)
    got = run(call, inputs, parameters, loss)
    assert_same(got, want, ulps)
    found = len(recorder.pipelines)
    assert found == pipelines or (pipelines is None and found), recorder.refused
    return recorder


def assert_same(got: Any, want: Any, ulps: float = ULPS) -> None:
    """Checks structure, dtype, shape, strides, device and values of results; floats
    within `ulps` of the largest one."""
    got_leaves, got_spec = pytree.tree_flatten(got)
    want_leaves, want_spec = pytree.tree_flatten(want)
    assert got_spec == want_spec
    for index, (a, b) in enumerate(zip(got_leaves, want_leaves, strict=True)):
        if isinstance(b, torch.Tensor):
            _assert_same_tensor(a, b, ulps, f"value {index}")
        else:
            assert a == b, f"value {index}"


def _assert_same_tensor(a: torch.Tensor, b: torch.Tensor, ulps: float, what: str) -> None:
    assert isinstance(a, torch.Tensor), what
    assert (a.dtype, a.shape, a.device) == (b.dtype, b.shape, b.device), what
    assert a.stride() == b.stride(), f"{what}: strides {a.stride()}, but eager's {b.stride()}"
    assert a.requires_grad == b.requires_grad, what
    if not b.is_floating_point():
        assert torch.equal(a, b), what
        return
    eps = torch.finfo(b.dtype).eps
    a, b = a.detach().double(), b.detach().double()
    finite = b.isfinite()
    assert torch.equal(a.isfinite(), finite), f"{what}: not finite elsewhere"
    assert torch.equal(a[~finite].nan_to_num(), b[~finite].nan_to_num()), what
    if finite.any():
        scale = b[finite].abs().max().item()
        error = (a - b)[finite].abs().max().item()
        assert error <= ulps * eps * scale, f"{what}: {error / (eps * scale or 1):.1f} ulps"
