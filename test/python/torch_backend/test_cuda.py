# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What only a GPU has: streams, its caching allocator, CUDA graphs."""

from __future__ import annotations

import pytest
import torch
from fuseops.torch.backend import fuseops_backend
from torch import Tensor, nn
from torch.nn import functional as F

from torch_backend.harness import assert_same, check, compile_with, run
from torch_backend.test_training import GatedMlp

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


def _model(dtype: torch.dtype = torch.float32) -> nn.Module:
    return GatedMlp(64).to("cuda", dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_training(dtype: torch.dtype) -> None:
    x = torch.randn(300, 64, device="cuda", dtype=dtype, requires_grad=True)
    check(_model(dtype), x, ulps=64)


def test_current_stream_is_used() -> None:
    """The call waits for what its stream has before it, and for nothing else."""
    call, _ = compile_with(lambda x: F.silu(x) * x)
    x = torch.zeros(1 << 22, device="cuda")
    call(x)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.fill_(2.0)
        y = call(x)
        is_done = stream.query()
    assert not is_done, "the call waited for the device"
    stream.synchronize()
    torch.testing.assert_close(y, F.silu(x) * x)


def test_memory_is_the_caching_allocators() -> None:
    call, _ = compile_with(_model())
    x = torch.randn(300, 64, device="cuda", requires_grad=True)
    call(x).sum().backward()
    torch.cuda.synchronize()
    before, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    for _ in range(20):
        call(x).sum().backward()
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.memory_reserved() == reserved


def test_capture_in_a_graph() -> None:
    call, _ = compile_with(_model().requires_grad_(False))
    x = torch.randn(300, 64, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = call(x)
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        graph.replay()
        torch.testing.assert_close(y, call(x))


def test_reduce_overhead() -> None:
    """Training under CUDA graphs, with a rest that Inductor runs."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mlp = _model()

        def forward(self, x: Tensor) -> Tensor:
            return torch.cumsum(self.mlp(x), 1) * 0.1

    model = Model()
    call = torch.compile(model, backend=fuseops_backend, mode="reduce-overhead", fullgraph=True)
    for _ in range(4):
        x = torch.randn(128, 64, device="cuda", requires_grad=True)
        parameters = list(model.parameters())
        want = run(model, (x,), parameters)
        want = [want[0].detach().clone(), [g.clone() for g in want[1]]]
        torch.compiler.cudagraph_mark_step_begin()
        got = run(call, (x,), parameters)
        assert_same([got[0].detach(), got[1]], want, ulps=128)


def test_autocast() -> None:
    model = _model()
    x = torch.randn(300, 64, device="cuda", requires_grad=True)

    def call(x: Tensor) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return model(x)

    compiled, recorder = compile_with(call)
    want = run(call, (x,), list(model.parameters()))
    got = run(compiled, (x,), list(model.parameters()))
    for a, b in zip([got[0], *got[1]], [want[0], *want[1]], strict=True):
        assert a.dtype == b.dtype
        assert (a - b).abs().max() <= 0.03 * b.abs().max()
    assert recorder.pipelines


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device here")
def test_several_devices() -> None:
    """One pipeline on one device after the other, whichever is current, each on its
    device's current stream; what is moved there is compiled again."""

    def function(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.layer_norm(F.gelu(F.linear(x, weight, bias)) + x, (64,))

    values = [torch.randn(shape, device="cpu") for shape in ((300, 64), (64, 64), (64,))]
    compiled, recorder = compile_with(function)
    model = _model()
    call, _ = compile_with(model)
    for index in (0, 1, 0, 1):
        device = torch.device("cuda", index)
        inputs = [value.to(device).requires_grad_() for value in values]
        model.to(device)
        for current in (0, 1):
            with torch.cuda.device(current), torch.cuda.stream(torch.cuda.Stream(device)):
                assert_same(run(compiled, inputs), run(function, inputs), ulps=64)
                parameters = list(model.parameters())
                want = run(model, inputs[:1], parameters)
                assert_same(run(call, inputs[:1], parameters), want, ulps=64)
    assert recorder.pipelines


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device here")
def test_tensors_of_two_devices_are_eagers() -> None:
    """A copy to the other device is in the rest, between a pipeline on each."""
    x = torch.randn(300, 64, device="cuda:0", requires_grad=True)

    def function(x: Tensor) -> Tensor:
        y = (F.silu(x) * x).to("cuda:1")
        return F.gelu(y) * y

    check(function, x, pipelines=None)
