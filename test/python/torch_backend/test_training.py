# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training and inference through the backend of torch.compile agree with eager
PyTorch, in outputs and in gradients."""

from __future__ import annotations

import pytest
import torch
from fuseops.errors import FuseOpsError
from fuseops.torch.explain import explain
from torch import Tensor, nn
from torch.nn import functional as F

from torch_backend.harness import assert_same, check, compile_with, run


class GatedMlp(nn.Module):
    """What most blocks are made of."""

    def __init__(self, size: int = 16) -> None:
        super().__init__()
        self.norm = nn.Parameter(torch.rand(size) + 0.5)
        self.gate_up = nn.Linear(size, 4 * size, bias=False)
        self.down = nn.Linear(2 * size, size)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(F.rms_norm(x, x.shape[-1:], self.norm)).chunk(2, -1)
        return self.down(F.silu(gate) * up) + x


@pytest.mark.parametrize("requires_grad", [False, True])
def test_training(requires_grad: bool) -> None:
    """With `x.requires_grad` either way."""
    check(GatedMlp(), torch.randn(3, 5, 16, requires_grad=requires_grad))


def test_inference() -> None:
    model = GatedMlp().eval().requires_grad_(False)
    recorder = check(model, torch.randn(3, 16))
    # No backward is derived, and nothing is saved for one.
    (pipeline,) = recorder.pipelines
    assert all(not any(needs) for needs, _ in pipeline._programs)


@pytest.mark.parametrize("fullgraph", [False, True])
def test_fullgraph(fullgraph: bool) -> None:
    check(GatedMlp(), torch.randn(3, 16), fullgraph=fullgraph)


def test_forward_and_backward_are_grouped_independently() -> None:
    """Backward has the sum of the residual's gradients in the norm's kernel, while
    forward adds the residual apart from it; both compute the gate's activation."""
    explanation = explain(GatedMlp(), torch.randn(3, 16, requires_grad=True))
    (pipeline,) = explanation.graphs[0].pipelines
    kernels = {e.name: [set(kernel.members) for kernel in e.kernels] for e in pipeline.entries}
    assert {"rms_norm"} in kernels["forward"]
    assert any({"rms_norm_grad", "add"} <= members for members in kernels["backward"])
    for entry in ("forward", "backward"):
        assert any({"silu", "mul"} <= members for members in kernels[entry])
    assert any({"silu_grad", "concat"} <= members for members in kernels["backward"])


def test_training_for_some_steps() -> None:
    """The optimizer changes parameters in place."""
    models = [GatedMlp(), GatedMlp()]
    models[1].load_state_dict(models[0].state_dict())
    compiled, recorder = compile_with(models[1])
    x, y = torch.randn(8, 16), torch.randn(8, 16)
    losses: list[list[float]] = []
    for model, call in zip(models, (models[0], compiled), strict=True):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        losses.append([])
        for _ in range(10):
            optimizer.zero_grad()
            loss = F.mse_loss(call(x), y)
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    assert losses[0][-1] < 0.9 * losses[0][0]
    assert len(recorder.graphs) == 1


def test_frozen_parameters() -> None:
    """No gradient is computed for them, and nothing is saved for it alone."""
    model = GatedMlp()
    model.gate_up.requires_grad_(False)
    x = torch.randn(7, 16, requires_grad=True)
    recorder = check(model, x)
    (pipeline,) = recorder.pipelines
    (needs,) = {needs for needs, _ in pipeline._programs}
    inputs = list(pipeline.graph.graph.nodes)[: len(needs)]
    frozen = [node for node, needed in zip(inputs, needs, strict=True) if not needed]
    assert sorted(tuple(node.meta["val"].shape) for node in frozen) == [(64, 16)]

    def saved_by(call: object) -> int:
        sizes = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: sizes.append(tensor.numel()) or tensor, lambda tensor: tensor
        ):
            call(x)
        return sum(sizes)

    call, _ = compile_with(model)
    frozen = saved_by(call)
    model.requires_grad_(True)
    assert frozen <= saved_by(call) - 7 * 16


def test_shared_parameters() -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(8, 8)
            self.second = nn.Linear(8, 8)
            self.second.bias = self.first.bias

        def forward(self, x: Tensor) -> Tensor:
            return self.second(F.gelu(self.first(x)))

    check(Shared(), torch.randn(3, 8, requires_grad=True))


def test_tied_parameters() -> None:
    """An embedding is also the last layer's weight; one use is in the rest."""

    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(11, 8)
            self.head = nn.Linear(8, 11, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens: Tensor) -> Tensor:
            hidden = torch.cumsum(self.embedding(tokens), 0)
            return F.log_softmax(self.head(F.silu(hidden)), -1)

    tokens = torch.randint(11, (5,))
    recorder = check(Tied(), tokens, pipelines=None)
    assert "hidden" in recorder.refused


def test_double_use_of_one_tensor() -> None:
    """In two arguments of the function, of one operator and of one pipeline."""

    def function(a: Tensor, b: Tensor, w: Tensor) -> Tensor:
        return F.silu(a @ w) * torch.tanh(b @ w) + a * a

    x = torch.randn(4, 8, requires_grad=True)
    w = torch.randn(8, 8, requires_grad=True)
    call, recorder = compile_with(function)
    results = []
    for f in (function, call):
        x.grad = w.grad = None
        output = f(x, x, w)
        (output * output).sum().backward()
        results.append((output, x.grad, w.grad))
    assert_same(results[1], results[0])
    assert len(recorder.pipelines) == 1


def test_retain_graph() -> None:
    model = GatedMlp()
    call, _ = compile_with(model)
    x = torch.randn(3, 16, requires_grad=True)
    gradients = []
    for f in (model, call):
        loss = f(x).square().sum()
        first = torch.autograd.grad(loss, [x, *model.parameters()], retain_graph=True)
        second = torch.autograd.grad(loss, [x, *model.parameters()])
        assert all(map(torch.equal, first, second))
        gradients.append(second)
        with pytest.raises(RuntimeError, match="second time"):
            torch.autograd.grad(loss, [x])
    assert_same(gradients[1], gradients[0])


def test_gradient_accumulation() -> None:
    model = GatedMlp()
    call, _ = compile_with(model)
    batches = torch.randn(3, 4, 16)
    gradients = []
    for f in (model, call):
        model.zero_grad()
        for x in batches:
            f(x).square().mean().backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    assert_same(gradients[1], gradients[0])


def test_unused_output_has_no_gradient() -> None:
    """Zero times the infinite derivative of an output that the loss doesn't use
    would be NaN."""

    def function(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        shared = F.silu(x)
        return shared * 2, torch.sqrt(shared * w)

    x = torch.zeros(4, requires_grad=True)
    w = torch.zeros(4, requires_grad=True)
    for index, missing in ((0, True), (1, False)):
        check(function, x, w, loss=lambda outputs, i=index: outputs[i].sum())
        call, _ = compile_with(function)
        _, (_, gradient) = run(call, (x, w), loss=lambda outputs, i=index: outputs[i].sum())
        assert (gradient is None) == missing


def test_output_that_needs_no_gradient() -> None:
    """A result of integers, and one of values that need none."""

    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return F.silu(x), x > y, torch.exp(y) * 2

    check(function, torch.randn(4, requires_grad=True), torch.randn(4), pipelines=None)


def test_output_returned_twice() -> None:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        y = F.gelu(x) * 2
        return y, y, (y, y.t())

    x = torch.randn(3, 4, requires_grad=True)
    check(function, x)
    first, second, _ = compile_with(function)[0](x)
    assert first is second


def test_input_returned_as_output() -> None:
    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x, F.silu(x) * y, y

    x = torch.randn(3, 4, requires_grad=True)
    y = torch.randn(3, 4)
    check(function, x, y)
    outputs = compile_with(function)[0](x, y)
    assert outputs[0] is x
    assert outputs[2] is y


def test_scalar_tensors() -> None:
    """Tensors of no dimensions as inputs, parameters, values and results."""

    def function(x: Tensor, scale: Tensor) -> tuple[Tensor, ...]:
        y = F.silu(x * scale)
        total = y.sum()
        return y / (total.abs() + 1), total, scale * 2

    x = torch.randn(3, 4, requires_grad=True)
    check(function, x, torch.tensor(0.5, requires_grad=True), pipelines=None)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.int32])
def test_masks(dtype: torch.dtype) -> None:
    def function(x: Tensor, mask: Tensor) -> Tensor:
        scores = x.masked_fill(mask == 0, -1e4)
        return torch.softmax(scores, -1) * mask

    check(function, torch.randn(3, 5, requires_grad=True), (torch.arange(5) % 2).to(dtype))


def test_double_backward_is_refused() -> None:
    """By a sentence: a penalty on gradients must not pass for a constant."""
    call, _ = compile_with(lambda x: F.silu(x) * x)
    x = torch.randn(4, requires_grad=True)
    (gradient,) = torch.autograd.grad(call(x).sum(), x, create_graph=True)
    assert_same(gradient.detach(), torch.autograd.grad((F.silu(x) * x).sum(), x)[0])
    with pytest.raises(FuseOpsError, match="expected gradients of first order"):
        (call(x).sum() + gradient.square().sum()).backward()


@pytest.mark.parametrize("which", ["input", "view"])
def test_modified_saved_tensor_is_detected(which: str) -> None:
    """As eager detects it, for a view of it too."""

    def function(x: Tensor, y: Tensor) -> Tensor:
        return F.silu(x) * torch.tanh(y)

    for f in (function, compile_with(function)[0]):
        leaf = torch.randn(4, requires_grad=True)
        x, y = leaf * 1, torch.randn(4)
        output = f(x, y)
        with torch.no_grad():
            (x if which == "input" else x[1:2]).add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            output.sum().backward()


def test_inputs_that_are_no_tensors() -> None:
    def function(x: Tensor, scale: float, dim: int, kind: str, flag: bool) -> Tensor:
        y = F.gelu(x, approximate=kind) if flag else F.relu(x)
        return torch.softmax(y * scale, dim)

    x = torch.randn(3, 4, requires_grad=True)
    call, _ = compile_with(function)
    for arguments in ((0.5, 1, "tanh", True), (2.0, 0, "none", True), (2.0, 0, "none", False)):
        assert_same(run(call, (x, *arguments)), run(function, (x, *arguments)))


def test_incoming_gradients_of_any_layout() -> None:
    """Of stride 0 from sum(), transposed, sliced, and an alias of another."""

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = F.gelu(x)
        return y * 2, torch.tanh(y)

    def sliced(outputs: tuple[Tensor, Tensor]) -> Tensor:
        return (torch.cat(outputs, 1) * torch.randn(6, 8)).sum()

    def transposed(outputs: tuple[Tensor, Tensor]) -> Tensor:
        return (outputs[0].t() * torch.arange(24.0).reshape(4, 6)).sum() + outputs[1].sum()

    x = torch.randn(6, 4, requires_grad=True)
    call, _ = compile_with(function)
    for loss in (lambda o: o[0].sum(), lambda o: (o[0] + o[1]).sum(), transposed, sliced):
        results = []
        for f in (function, call):
            torch.manual_seed(1)
            results.append(run(f, (x,), loss=loss))
        assert_same(results[1], results[0])
