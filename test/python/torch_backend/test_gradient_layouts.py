# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of what a pipeline takes lie in memory as in eager mode, where PyTorch's
attention may look at it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from fuseops.torch.backend import fuseops_backend
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from torch_backend.harness import assert_same, compile_with

LOGGER = "fuseops.torch.layouts"


@pytest.fixture(autouse=True)
def known(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Sees that PyTorch can say what it would do in eager mode."""
    with caplog.at_level(logging.DEBUG, LOGGER):
        yield
    assert LOGGER not in [record.name for record in caplog.records]


def run(function: Callable[..., Any], x: Tensor, layout: Callable[[Tensor], Tensor]) -> list[Any]:
    """The result, the gradient of what the function takes, and that of what it's a view
    of. The gradient of the result lies in memory as the result does."""
    torch.manual_seed(1)
    base = x.detach().requires_grad_()
    given, seen = layout(base * 1), []
    given.register_hook(seen.append)
    result = function(given)
    result.backward(torch.randn_like(result))
    return [result, *seen, base.grad]


def pointwise(x: Tensor) -> Tensor:
    return F.gelu(x) * 2


def two_orders(x: Tensor) -> Tensor:
    return F.silu(x.contiguous()) * torch.tanh(x)


def normalised(x: Tensor) -> Tensor:
    return F.layer_norm(torch.tanh(x), x.shape[-1:])


def softmax(x: Tensor) -> Tensor:
    return torch.softmax(x * 2, 1)


def reduced(x: Tensor) -> Tensor:
    return (F.silu(x) * 2).sum(0)


def heads_to_rows(x: Tensor) -> Tensor:
    rows = x.transpose(1, 2).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])
    return F.silu(F.linear(rows, torch.ones(3, 1).expand(3, rows.shape[-1])))


LAYOUTS = {
    "packed": lambda x: x,
    "transposed": lambda x: x.transpose(1, 2),
    "permuted": lambda x: x.permute(2, 3, 0, 1),
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "expanded": lambda x: x[:1].expand(5, -1, -1, -1),
    "expanded_permuted": lambda x: x.permute(1, 0, 3, 2)[:1].expand(5, -1, -1, -1),
    "sliced": lambda x: x[:, ::2, :, 1:],
    "sliced_permuted": lambda x: x.permute(0, 3, 1, 2)[:, ::2, :, 1:],
    "empty": lambda x: x[:0].transpose(1, 2),
}
FUNCTIONS = [pointwise, two_orders, normalised, softmax, reduced, heads_to_rows]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_of_any_layout(function: Callable[..., Any], layout: str) -> None:
    call, recorder = compile_with(function)
    x = torch.randn(2, 4, 6, 8)
    assert_same(run(call, x, LAYOUTS[layout]), run(function, x, LAYOUTS[layout]))
    assert len(recorder.pipelines) == 1, recorder.refused


def test_of_sizes_of_one() -> None:
    """Their strides say nothing, and are no reason to permute what is row-major."""
    call, recorder = compile_with(pointwise)
    layout = lambda x: x[:, :1].transpose(0, 1)  # noqa: E731
    x = torch.randn(1, 4, 6)
    for got, want in zip(run(call, x, layout), run(pointwise, x, layout), strict=True):
        torch.testing.assert_close(got, want)
    (pipeline,) = recorder.pipelines
    assert [argument.order for argument in pipeline.arguments] == [None]


def test_of_what_is_copied() -> None:
    """A result that is an input in another order is row-major all the same."""

    def function(x: Tensor) -> Tensor:
        return x.permute(0, 2, 1).contiguous()

    def with_more(x: Tensor) -> tuple[Tensor, Tensor]:
        return function(x), torch.tanh(x)

    x = torch.randn(2, 4, 6)
    for layout in (lambda x: x.transpose(1, 2)[:, ::2], lambda x: x[:, ::2], lambda x: x):
        for one in (function, lambda x: with_more(x)[0]):
            torch._dynamo.reset()
            call, _ = compile_with(one)
            assert_same(run(call, x, layout), run(one, x, layout))


@pytest.mark.parametrize("is_marked", [False, True])
def test_with_a_dynamic_batch(is_marked: bool) -> None:
    """The order is found once for all sizes."""

    def layout(x: Tensor) -> Tensor:
        x = x.transpose(1, 2)
        if is_marked:
            torch._dynamo.mark_dynamic(x, 0)
        return x

    call, recorder = compile_with(heads_to_rows)
    for size in (2, 3, 5, 17):
        x = torch.randn(size, 4, 6, 8)
        assert_same(run(call, x, layout), run(heads_to_rows, x, layout))
    assert len(recorder.graphs) == len(recorder.pipelines) == (1 if is_marked else 2)
    assert all(len(pipeline._programs) == 1 for pipeline in recorder.pipelines)


def test_with_a_symbolic_size_that_is_innermost() -> None:
    """A program cannot have it last: the gradient is row-major then."""

    def function(x: Tensor) -> Tensor:
        return torch.exp(x).sum(-1, keepdim=True) * 2

    def layout(x: Tensor) -> Tensor:
        x = x.t()
        torch._dynamo.mark_dynamic(x, 0)
        return x

    call, recorder = compile_with(function)
    for size in (5, 7):
        x = torch.randn(8, size)
        result, gradient, _ = run(call, x, layout)
        torch.testing.assert_close([result, gradient], run(function, x, layout)[:2])
        assert gradient.is_contiguous()
    assert len(recorder.pipelines) == 1, recorder.refused


def test_under_autocast() -> None:
    call, recorder = compile_with(heads_to_rows)
    x = torch.randn(2, 4, 6, 8)
    transpose = lambda x: x.transpose(1, 2)  # noqa: E731
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        want = run(heads_to_rows, x, transpose)
        got = run(call, x, transpose)
    assert got[0].dtype == torch.bfloat16
    assert_same(got, want, ulps=8 * 2**16)
    assert len(recorder.pipelines) == 1, recorder.refused


@torch.library.custom_op("fuseops_test::looks_at_data", mutates_args=())
def looks_at_data(x: Tensor) -> Tensor:
    """A copy, whose backward cannot run without data."""
    return x.clone()


looks_at_data.register_fake(torch.empty_like)
looks_at_data.register_autograd(lambda _, g: g if g.sum().item() < 1e9 else g * 0)


def test_where_nothing_is_known_of_eager_mode(caplog: pytest.LogCaptureFixture) -> None:
    """The gradient has the order of the value."""

    def function(x: Tensor) -> Tensor:
        return pointwise(looks_at_data(x))

    call, recorder = compile_with(function)
    x = torch.randn(2, 4, 6, 8)
    layout = LAYOUTS["transposed"]
    assert_same(run(call, x, layout), run(function, x, layout))
    (pipeline,) = recorder.pipelines
    assert [argument.order for argument in pipeline.arguments] == [(0, 2, 1, 3)]
    assert LOGGER in [record.name for record in caplog.records]
    caplog.clear()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_of_fake_tensors(function: Callable[..., Any]) -> None:
    """The operators that stand for a pipeline give them the same strides."""
    call, recorder = compile_with(function)
    x = torch.randn(2, 4, 6, 8)
    layout = LAYOUTS["transposed"]
    run(call, x, layout)
    (pipeline,) = recorder.pipelines
    others = [node.meta["val"] for node in pipeline.graph.graph.nodes if node.op == "placeholder"]
    others = [torch.zeros(value.shape) for value in others[1:]]

    def describe(x: Tensor, others: list[Tensor]) -> list[Any]:
        made = run(lambda x: pipeline(x, *others)[0], x, layout)
        return [(tensor.shape, tensor.dtype, tensor.stride()) for tensor in made]

    with FakeTensorMode() as mode:
        fake = describe(mode.from_tensor(x), [mode.from_tensor(other) for other in others])
    assert fake == describe(x, others)


class Attention(nn.Module):
    """Attention whose heads, and so its result, lie in memory in some way."""

    def __init__(self, heads: str) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self._heads = heads

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], 2, 8)
        q, k, v = (t.view(shape).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        if self._heads == "outermost":
            q = q.contiguous()
        elif self._heads == "scaled":
            q, k = q * 2, torch.tanh(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        if self._heads == "gated":
            y = torch.sigmoid(v) * y
        return F.gelu(self.out(y.transpose(1, 2).reshape(x.shape))) + x


class AttentionLayouts(TorchDispatchMode):
    """Records the strides of what the backward of attention takes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[tuple[int, ...]]] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if "attention" in str(function) and "backward" in str(function):
            self.seen.append([t.stride() for t in args if isinstance(t, Tensor) and t.dim() == 4])
        return function(*args, **(kwargs or {}))


def train(function: Callable[..., Any], sizes: tuple[int, ...]) -> list[Any]:
    """The strides that attention's backward sees, and the input's gradient."""
    found = []
    for size in sizes:
        torch.manual_seed(size)
        x = torch.randn(size, 5, 16, requires_grad=True)
        loss = function(x).square().sum()
        # Dynamo runs nothing that it compiled within a mode.
        with AttentionLayouts() as layouts:
            loss.backward()
        found.append((layouts.seen, x.grad))
    return found


def check_attention(model: nn.Module, call: Callable[..., Any], sizes: tuple[int, ...]) -> None:
    want, got = train(model, sizes), train(call, sizes)
    assert all(seen for seen, _ in want)
    assert [seen for seen, _ in got] == [seen for seen, _ in want]
    torch.testing.assert_close([gradient for _, gradient in got], [g for _, g in want])


@pytest.mark.parametrize("sizes", [(2,), (2, 3, 5)])
@pytest.mark.parametrize("heads", ["second", "outermost", "scaled", "gated"])
@pytest.mark.parametrize("rest", ["eager", "inductor"])
def test_of_attention(rest: str, heads: str, sizes: tuple[int, ...]) -> None:
    model = Attention(heads)
    call, recorder = compile_with(model, rest)
    check_attention(model, call, sizes)
    assert len(recorder.graphs) == min(len(sizes), 2)
    assert all(len(graph.taken) == 2 for graph in recorder.graphs), recorder.refused


def test_of_attention_in_a_whole_graph() -> None:
    """As `reduce-overhead` has Inductor compile it."""

    def backend(module: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        return fuseops_backend(module, examples, mode="reduce-overhead")

    model = Attention("outermost")
    check_attention(model, torch.compile(model, backend=backend), (2, 3))


def test_of_attention_under_a_checkpoint() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = Attention("second")
            self.second = Attention("outermost")

        def forward(self, x: Tensor) -> Tensor:
            return checkpoint(self.second, self.first(x), use_reentrant=False)

    model = Model()
    for rest in ("eager", "inductor"):
        torch._dynamo.reset()
        call, recorder = compile_with(model, rest)
        check_attention(model, call, (2,))
        assert len(recorder.graphs[0].parts) == 1
