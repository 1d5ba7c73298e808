# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nothing that is compiled holds a parameter: they are copied, loaded, replaced and
materialised as those of any module."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torch_backend.harness import assert_same, compile_with, run
from torch_backend.test_training import GatedMlp


def assert_as_eager(call: nn.Module, model: nn.Module, x: Tensor) -> None:
    """Checks a compiled module against the module as it is now."""
    parameters = list(model.parameters())
    assert_same(run(call, (x,), parameters), run(model, (x,), parameters))


@pytest.fixture
def x() -> Tensor:
    """Three rows of an input."""
    return torch.randn(3, 16, requires_grad=True)


def test_deepcopy(x: Tensor) -> None:
    """A copy has parameters of its own and learns alone."""
    call, _ = compile_with(GatedMlp())
    assert_as_eager(call, call._orig_mod, x)
    other = copy.deepcopy(call)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(2)
    assert_as_eager(other, other._orig_mod, x)
    assert_as_eager(call, call._orig_mod, x)
    assert not torch.equal(call(x), other(x))


def test_state_dict(x: Tensor) -> None:
    """Has the module's names, and holds after a round trip."""
    call, recorder = compile_with(GatedMlp())
    call(x)
    state = {name: value.clone() for name, value in call.state_dict().items()}
    assert set(call._orig_mod.state_dict()) == {name.removeprefix("_orig_mod.") for name in state}
    want = call(x)
    with torch.no_grad():
        for parameter in call.parameters():
            parameter.zero_()
    call.load_state_dict(state)
    assert torch.equal(call(x), want)
    assert len(recorder.graphs) == 1


def test_load_state_dict_with_assign(x: Tensor) -> None:
    call, recorder = compile_with(GatedMlp())
    assert_as_eager(call, call._orig_mod, x)
    state = {name: torch.randn_like(value) for name, value in call.state_dict().items()}
    call.load_state_dict(state, assign=True)
    assert call._orig_mod.norm.data_ptr() == state["_orig_mod.norm"].data_ptr()
    assert_as_eager(call, call._orig_mod, x)
    assert len(recorder.graphs) == 1


@pytest.mark.parametrize("how", ["assigned", "data", "deleted", "registered", "transposed"])
def test_replaced_parameters(how: str, x: Tensor) -> None:
    model = GatedMlp()
    call, _ = compile_with(model)
    assert_as_eager(call, model, x)
    new = torch.randn(16, 32)
    if how == "assigned":
        model.down.weight = nn.Parameter(new)
    elif how == "data":
        model.down.weight.data = new
    elif how == "transposed":
        model.down.weight = nn.Parameter(new.t().contiguous().t())
    else:
        if how == "deleted":
            del model.down.weight
        model.down.register_parameter("weight", nn.Parameter(new))
    assert_as_eager(call, model, x)


def test_parameter_of_another_dtype(x: Tensor) -> None:
    model = GatedMlp()
    call, recorder = compile_with(model)
    assert_as_eager(call, model, x)
    model.double()
    assert_as_eager(call, model, x.detach().double().requires_grad_())
    assert len(recorder.graphs) == 2


def test_parametrization(x: Tensor) -> None:
    class Scaled(nn.Module):
        def forward(self, weight: Tensor) -> Tensor:
            return torch.tanh(weight) * 2

    model = GatedMlp()
    nn.utils.parametrize.register_parametrization(model.down, "weight", Scaled())
    call, recorder = compile_with(model)
    assert_as_eager(call, model, x)
    assert recorder.pipelines


def test_meta_device_construction(x: Tensor) -> None:
    """Built without memory, materialised, then compiled or compiled before."""
    with torch.device("meta"):
        model = GatedMlp()
    call, recorder = compile_with(model)
    state = GatedMlp().state_dict()
    model.to_empty(device=x.device)
    model.load_state_dict(state)
    assert_as_eager(call, model, x)
    assert len(recorder.graphs) == 1


def test_meta_inputs_run_before_materialisation(x: Tensor) -> None:
    """Shapes come out of a call on meta tensors; real ones are compiled then."""
    with torch.device("meta"):
        model = GatedMlp()
    call, recorder = compile_with(model)
    output = call(x.to("meta"))
    assert output.is_meta
    assert output.shape == x.shape
    model.load_state_dict(GatedMlp().state_dict(), assign=True)
    assert_as_eager(call, model, x)
    assert recorder.pipelines


def test_buffers_are_updated() -> None:
    """A running statistic and a count are state of the module."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))
            self.register_buffer("mean", torch.zeros(8))

        def forward(self, x: Tensor) -> Tensor:
            self.count += 1
            self.mean.lerp_(x.detach().mean(0), 0.1)
            return F.silu(x - self.mean) * self.count

    models = [Model(), Model()]
    call, recorder = compile_with(models[1])
    for _ in range(3):
        x = torch.randn(5, 8, requires_grad=True)
        assert_same(run(call, (x,)), run(models[0], (x,)))
        assert_same(models[1].state_dict(), models[0].state_dict())
    assert recorder.pipelines


def test_two_models_compiled_at_once(x: Tensor) -> None:
    """Each keeps its own programs, also where one calls the other's layers."""
    models = [GatedMlp(), nn.Sequential(GatedMlp(), nn.GELU(), nn.Linear(16, 4))]
    calls = [compile_with(model) for model in models]
    for _ in range(2):
        for (call, _), model in zip(calls, models, strict=True):
            assert_as_eager(call, model, x)
    assert [len(recorder.graphs) for _, recorder in calls] == [1, 1]


def test_graph_break(x: Tensor) -> None:
    """Several graphs, with Python that isn't compiled between them."""
    seen = []

    def function(x: Tensor) -> Tensor:
        a = F.silu(x) * 2
        torch._dynamo.graph_break()
        seen.append(a.shape)
        return torch.softmax(a, -1) * x

    call, recorder = compile_with(function, fullgraph=False)
    assert_same(run(call, (x,)), run(function, (x,)))
    assert len(recorder.graphs) >= 2
    assert len(recorder.pipelines) == 2
    assert len(seen) == 2


def test_branch_on_data(x: Tensor) -> None:
    def function(x: Tensor) -> Tensor:
        a = F.silu(x) * 2
        return torch.tanh(a) * x if a.sum() > 0 else torch.softmax(a, -1) * x

    call, recorder = compile_with(function, fullgraph=False)
    for sign in (1, -1):
        value = (sign * x.detach().abs()).requires_grad_()
        assert_same(run(call, (value,)), run(function, (value,)))
    assert len(recorder.pipelines) == 3


def test_reset(x: Tensor) -> None:
    model = GatedMlp()
    call, recorder = compile_with(model)
    assert_as_eager(call, model, x)
    torch._dynamo.reset()
    assert_as_eager(call, model, x)
    assert len(recorder.graphs) == 2


def test_module_hooks(x: Tensor) -> None:
    model = GatedMlp()
    model.down.register_forward_hook(lambda module, inputs, output: output * 2)
    call, _ = compile_with(model)
    assert_as_eager(call, model, x)


def test_train_and_eval(x: Tensor) -> None:
    model = nn.Sequential(GatedMlp(), nn.Dropout(0.5), nn.GELU())
    call, recorder = compile_with(model)
    call(x)
    model.eval()
    assert_as_eager(call, model, x)
    assert len(recorder.graphs) == 2
