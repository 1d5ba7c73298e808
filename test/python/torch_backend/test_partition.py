# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the backend of torch.compile cuts a graph: what runs in which order, what is
written in place, and which memory results have."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

from torch_backend.harness import assert_same, check, compile_with, run

# A pipeline may hold the first ones; the others are the rest.
SUPPORTED = (
    lambda x, y: F.silu(x) * y,
    lambda x, y: torch.tanh(x) + y,
    lambda x, y: torch.softmax(x - y, -1),
    lambda x, y: x.transpose(0, 1) + y,
)
REST = (
    lambda x, y: torch.cumsum(x, 0) + y,
    lambda x, y: torch.flip(x, (0,)) - y,
    lambda x, y: torch.roll(x, 1, 1) * y,
)


def random_function(seed: int, num_nodes: int = 12) -> Callable[[Tensor, Tensor], tuple]:
    """A random graph of operators that a pipeline may hold and others."""
    rng = random.Random(seed)
    steps = []
    for index in range(num_nodes):
        operation = rng.choice(SUPPORTED if rng.random() < 0.7 else REST)
        # Mostly of recent values, so that the graph is deep.
        first = rng.randrange(max(0, index - 2), index + 2)
        steps.append((operation, first, rng.randrange(index + 2)))
    results = rng.sample(range(2, num_nodes + 2), 3)

    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        values = [x, y]
        for operation, first, second in steps:
            values.append(operation(values[first], values[second]))
        return tuple(values[index] for index in results)

    return function


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_are_cut_without_cycles(seed: int) -> None:
    x = torch.randn(4, 4, requires_grad=True)
    y = torch.randn(4, 4, requires_grad=True)
    # Values pass through a dozen operators, some of which cancel.
    check(random_function(seed), x, y, pipelines=None, ulps=2**12)


def test_diamond_through_the_rest() -> None:
    """One pipeline of both ends would need its own result."""

    def function(x: Tensor) -> Tensor:
        a = F.silu(x)
        return torch.tanh(torch.cumsum(a, 0) + a)

    recorder = check(function, torch.randn(4, 4, requires_grad=True), pipelines=2)
    assert len(recorder.refused) == 1


def test_what_is_beside_the_rest_is_one_pipeline() -> None:
    """The rest cuts only what depends on it."""

    def function(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        a = F.silu(x)
        b = torch.cumsum(y, 0)
        return torch.tanh(a) * 2, b

    check(function, torch.randn(4, 4, requires_grad=True), torch.randn(4, 4))


def mutate_inputs(x: Tensor, y: Tensor) -> Tensor:
    a = F.silu(x) * 2
    x.add_(1)
    b = F.silu(x) * 2
    y.mul_(b)
    return a + b + torch.tanh(y)


def mutate_intermediate(x: Tensor, y: Tensor) -> Tensor:
    a = F.silu(x) * y
    a.add_(y)
    return torch.tanh(a) * y


def mutate_through_view(x: Tensor, y: Tensor) -> Tensor:
    a = torch.tanh(y) * 2
    row = a[1:3]
    row.mul_(3)
    x[0].copy_(a[2])
    return F.silu(a) * x


def mutate_base_after_view(x: Tensor, y: Tensor) -> Tensor:
    a = torch.tanh(y) * 2
    view = a.t()
    a.zero_()
    return F.silu(view) + x + 1


def mutate_between(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    before = x.sum(0)
    x.mul_(2)
    after = x.sum(0)
    return F.silu(before) * y, F.silu(after) * y


def mutate_slice_assignment(x: Tensor, y: Tensor) -> Tensor:
    x[:, 1] = torch.tanh(y[:, 0])
    return F.silu(x) * y


def mutate_into_out(x: Tensor, y: Tensor) -> Tensor:
    a = F.silu(y) * 2
    torch.mul(a, y, out=x)
    return torch.tanh(x) * a


MUTATIONS = (
    mutate_inputs,
    mutate_intermediate,
    mutate_through_view,
    mutate_base_after_view,
    mutate_between,
    mutate_slice_assignment,
    mutate_into_out,
)


@pytest.mark.parametrize("function", MUTATIONS, ids=lambda f: f.__name__)
def test_in_place(function: Callable[..., Tensor]) -> None:
    """Writes happen in order, to the caller's tensors too."""
    call, recorder = compile_with(function)
    torch.manual_seed(0)
    start = [torch.randn(4, 4), torch.randn(4, 4)]
    results = []
    for f in (function, call):
        inputs = [tensor.clone() for tensor in start]
        versions = [tensor._version for tensor in inputs]
        output = f(*inputs)
        written = [t._version > v for t, v in zip(inputs, versions, strict=True)]
        results.append((output, inputs, written))
    assert_same(results[1], results[0])
    assert recorder.pipelines


@pytest.mark.parametrize(
    "function", [mutate_intermediate, mutate_slice_assignment], ids=lambda f: f.__name__
)
def test_in_place_with_gradients(function: Callable[..., Tensor]) -> None:
    def out_of_place(x: Tensor, y: Tensor) -> Tensor:
        return function(x * 1, y * 1)

    x = torch.randn(4, 4, requires_grad=True)
    check(out_of_place, x, torch.randn(4, 4, requires_grad=True), pipelines=None)


def test_inputs_that_overlap_are_written() -> None:
    """One tensor in two arguments, and a view of it."""
    call, _ = compile_with(mutate_inputs, dynamic=False)
    for view in (lambda x: x, lambda x: x.t(), lambda x: x.flatten()[:16].view(4, 4)):
        results = []
        for f in (mutate_inputs, call):
            torch.manual_seed(0)
            x = torch.randn(4, 4)
            results.append((f(x, view(x)), x))
        assert_same(results[1], results[0])


def test_results_that_are_views_share_memory() -> None:
    """Of a result and of an input, as in eager; changed later by the caller."""

    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a = F.silu(x) * y
        return a, a[1], a.t(), x[:, 2], torch.tanh(a)

    x, y = torch.randn(4, 4), torch.randn(4, 4)
    recorder = check(function, x, y)
    assert recorder.pipelines[0].results
    results = []
    for f in (function, compile_with(function)[0]):
        own = x.clone()
        outputs = f(own, y)
        outputs[0].mul_(2)
        own.add_(1)
        outputs[2].add_(1)
        results.append(outputs)
    assert_same(results[1], results[0])


def test_view_of_a_result_changed_later_with_gradients() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        a = F.silu(x) * 2
        return a, a.transpose(0, 1)

    results = []
    for f in (function, compile_with(function)[0]):
        torch.manual_seed(0)
        x = torch.randn(3, 4, requires_grad=True)
        a, b = f(x)
        a.mul_(3)
        (b * torch.arange(12.0).reshape(4, 3)).sum().backward()
        results.append((a, b, x.grad))
    assert_same(results[1], results[0])


def test_detached_result_shares_memory() -> None:
    """Nothing that is detached loses its memory or gets a gradient."""

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        a = F.silu(x) * 2
        return a, a.detach()

    check(function, torch.randn(3, 4, requires_grad=True))
    a, b = compile_with(function)[0](torch.randn(3, 4, requires_grad=True))
    assert a.data_ptr() == b.data_ptr()


def copies(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """What has the values of an input or of another result, in memory of its own."""
    a = F.silu(y)
    return x.clone(), x * 1, x.t().contiguous().t(), F.silu(y), a, (a + 0).clone()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_copies_have_memory_of_their_own(requires_grad: bool) -> None:
    results = []
    for f in (copies, compile_with(copies)[0]):
        torch.manual_seed(0)
        x, y = torch.randn(4, 4), torch.randn(4, 4)
        x.requires_grad_(requires_grad)
        start = x.detach().clone()
        outputs = f(x, y)
        assert len({output.data_ptr() for output in (x, y, *outputs)}) == 8
        for index, output in enumerate(outputs):
            output.mul_(index + 2)
        assert torch.equal(x, start)
        results.append(outputs)
    assert_same(results[1], results[0])


def test_results_are_written_while_their_values_are_saved() -> None:
    """Eager saves what is inside of a pipeline, which may save its ends instead."""

    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a = F.silu(x) + y
        b = torch.sigmoid(a)
        a.mul_(3)
        return a, b * 2

    def with_rest(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        inner = torch.cumsum(x, 0)
        results = function(torch.tanh(inner), torch.sigmoid(inner))
        inner.zero_()
        return results

    x = torch.randn(4, 4, requires_grad=True)
    y = torch.randn(4, 4, requires_grad=True)
    for f in (function, with_rest):
        check(f, x, y, pipelines=None)


def test_permuted_results_are_written() -> None:
    """Views that PyTorch knows of, not ones made inside of an autograd function."""

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        a = F.silu(x.t()) * 2
        b = a.t()
        a.add_(1)
        return a, b

    check(function, torch.randn(3, 4, requires_grad=True), pipelines=None)


def test_views_are_made_in_their_own_mode() -> None:
    """Although the rest that needs them first runs without gradients."""

    def function(x: Tensor, mode: Callable[[], object]) -> tuple[Tensor, Tensor]:
        a = (F.silu(x) * 2).t()
        with mode():
            b = torch.cumsum(a, 0)
        return torch.cumsum(a, 1), b

    x = torch.randn(4, 4, requires_grad=True)
    for mode in (torch.no_grad, torch.inference_mode):
        check(partial(function, mode=mode), x, pipelines=None)


def test_pipelines_run_in_their_own_mode() -> None:
    """One that another of the rest waits for may stand within its mode."""

    def function(x: Tensor, mode: Callable[[], object]) -> tuple[Tensor, ...]:
        a = torch.cumsum(F.silu(x) * 2, 0)
        with mode():
            b = torch.cumsum(torch.tanh(a.detach()), 1)
            c = torch.cumsum(F.gelu(b) * 2, 1)
        return torch.tanh(a) * x, b * 1, c

    x = torch.randn(4, 4, requires_grad=True)
    for mode in (torch.no_grad, torch.inference_mode):
        check(partial(function, mode=mode), x, pipelines=None)


def pointwise(x: Tensor) -> Tensor:
    return F.gelu(x) * 2


def two_inputs(x: Tensor) -> Tensor:
    return F.silu(x) * torch.ones_like(x) + x.sum(-1, keepdim=True)


def normalised(x: Tensor) -> Tensor:
    return F.layer_norm(torch.tanh(x), x.shape[-1:])


def reduced(x: Tensor) -> Tensor:
    return (F.silu(x) * 2).sum(0)


LAYOUTS = {
    "transposed": lambda x: x.transpose(0, 1),
    "permuted": lambda x: x.permute(2, 3, 0, 1),
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "expanded": lambda x: x[:1].expand(5, -1, -1, -1),
    "sliced": lambda x: x[:, ::2, :, 1:],
    "offset": lambda x: x[1:],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", [pointwise, two_inputs, normalised, reduced])
def test_strides_are_those_of_eager(function: Callable[[Tensor], Tensor], layout: str) -> None:
    x = LAYOUTS[layout](torch.randn(2, 4, 6, 8)).requires_grad_()
    call, recorder = compile_with(function)
    assert_same(run(call, (x,)), run(function, (x,)))
    assert recorder.pipelines, recorder.refused


def test_channels_last_in_an_image_model() -> None:
    """Convolutions are the rest; what is between keeps their memory format."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Conv2d(4, 8, 3)
            self.second = torch.nn.Conv2d(8, 4, 3)

        def forward(self, x: Tensor) -> Tensor:
            return F.gelu(self.second(F.silu(self.first(x)) * 2))

    model = Model().to(memory_format=torch.channels_last)
    x = torch.randn(2, 4, 8, 8).to(memory_format=torch.channels_last)
    recorder = check(model, x, pipelines=2)
    assert len(recorder.refused) == 2


def test_views_outside_of_pipelines_keep_strides() -> None:
    """What the rest gets has eager's strides, which it may look at."""

    def function(x: Tensor) -> Tensor:
        a = (F.silu(x) * 2).transpose(1, 2)
        b = torch.cumsum(a, 0)
        return b.view_as(a) if a.is_contiguous() else b.transpose(1, 2).contiguous() + 1

    check(function, torch.randn(2, 3, 4, requires_grad=True), pipelines=None)


def test_what_has_no_input_is_no_pipeline() -> None:
    """Masks and positions that a model makes itself."""

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(16, device=x.device) * 2 + 1
        mask = (places[:, None] > places).to(x.dtype)
        return torch.cumsum(F.silu(x), -1), mask

    check(function, torch.randn(3, 16, requires_grad=True), pipelines=1)


def test_equal_layers_share_a_program() -> None:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(16, 16)

        def forward(self, x: Tensor) -> Tensor:
            return torch.cumsum(F.silu(self.linear(x)) * x, -1)

    layers = torch.nn.Sequential(*(Layer() for _ in range(4)))
    recorder = check(layers, torch.randn(3, 16, requires_grad=True), pipelines=4, ulps=1024)
    programs = {program for p in recorder.pipelines for program in p._programs.values()}
    assert len(programs) == 1


def test_a_traced_call_outlives_an_equal_pipeline() -> None:
    def function(x: Tensor) -> Tensor:
        return F.silu(x) * x

    x = torch.randn(3, 16)
    first = check(function, x).pipelines[0]
    torch._dynamo.reset()
    second = check(function, x).pipelines[0]
    assert first._key == second._key
    del second
    # Dynamo holds what it compiled.
    torch._dynamo.reset()
    gc.collect()
    traced = make_fx(first, tracing_mode="fake")(x)
    assert "pipeline_forward" in traced.code
    assert_same(traced(x)[0], function(x))
