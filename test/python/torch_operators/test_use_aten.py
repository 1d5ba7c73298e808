# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fuseops.use_aten`: what is overridden, what stays PyTorch's, and torch.compile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import fuseops
import pytest
import torch
import torch.nn.functional as F
from fuseops.program import Program
from fuseops.torch.aten import PLANS
from torch._subclasses.fake_tensor import FakeTensorMode

N = 64
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def _norm(shape: tuple[int, ...], has_factors: bool) -> Callable[..., torch.Tensor]:
    def function(x: torch.Tensor) -> torch.Tensor:
        factor = torch.linspace(0.5, 2.0, N).to(x) if has_factors else None
        return F.layer_norm(x, shape, factor, factor)

    return function


# Each with the operators that it calls, forward and backward.
FUNCTIONS: dict[str, tuple[Callable[..., torch.Tensor], tuple[str, ...]]] = {
    "silu": (F.silu, ("silu", "silu_backward")),
    "gelu": (F.gelu, ("gelu", "gelu_backward")),
    "gelu-tanh": (lambda x: F.gelu(x, approximate="tanh"), ("gelu", "gelu_backward")),
    "relu": (F.relu, ("relu", "threshold_backward")),
    "sigmoid": (torch.sigmoid, ("sigmoid", "sigmoid_backward")),
    "tanh": (torch.tanh, ("tanh", "tanh_backward")),
    "leaky_relu": (F.leaky_relu, ("leaky_relu", "leaky_relu_backward")),
    "hardswish": (F.hardswish, ("hardswish", "hardswish_backward")),
    "mish": (F.mish, ("mish", "mish_backward")),
    "softmax": (lambda x: x.softmax(-1), ("_softmax", "_softmax_backward_data")),
    "log_softmax": (lambda x: x.log_softmax(-1), ("_log_softmax", "_log_softmax_backward_data")),
    "layer_norm": (_norm((N,), True), ("native_layer_norm", "native_layer_norm_backward")),
    "layer_norm-two": (
        _norm((4, N), False),
        ("native_layer_norm", "native_layer_norm_backward"),
    ),
}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Counts the runs of programs."""
    count = [0]
    run = Program.run_forward

    def counted(self: Program, tensors: Any) -> Any:
        count[0] += 1
        return run(self, tensors)

    monkeypatch.setattr(Program, "run_forward", counted)
    return count


def _step(name: str, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A result and a gradient; the incoming one is packed."""
    x = x.detach().requires_grad_()
    y = FUNCTIONS[name][0](x)
    y.backward(torch.linspace(-1, 1, y.numel()).to(y).view(y.shape))
    return y.detach(), x.grad


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name: str, dtype: torch.dtype, device: str, runs: list[int]) -> None:
    for rows in (1, 3):
        x = torch.randn(rows, 4, N).to(device, dtype)
        # Of the CPU: on CUDA, PyTorch's hardswish has 1/6 in f32, also in f64.
        exact = [truth.to(device) for truth in _step(name, x.cpu().double())]
        expected = _step(name, x)
        assert runs[0] == 0
        with fuseops.use_aten():
            actual = _step(name, x)
        assert runs[0] == 2
        runs[0] = 0
        after = _step(name, x)
        assert runs[0] == 0
        for ours, theirs, truth, again in zip(actual, expected, exact, after, strict=True):
            assert torch.equal(theirs, again)
            assert ours.dtype == theirs.dtype
            assert ours.stride() == theirs.stride()
            bound = (truth.abs().max() + 1) * torch.finfo(dtype).eps
            # In f64 the truth is eager's own, which is some ulps off too.
            ulps = 16 if dtype == torch.float64 else 4
            assert (ours.double() - truth).abs().max() <= ulps * bound


def test_every_override_is_tested() -> None:
    assert {name for _, names in FUNCTIONS.values() for name in names} == set(PLANS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_as_fake_tensors_have_them(name: str, device: str) -> None:
    for dtype in DTYPES:
        x = torch.randn(3, 4, N).to(device, dtype)
        with fuseops.use_aten():
            real = _step(name, x)
            with FakeTensorMode() as mode:
                fake = _step(name, mode.from_tensor(x))
        for ours, theirs in zip(real, fake, strict=True):
            assert (ours.shape, ours.dtype, ours.stride()) == (
                theirs.shape,
                theirs.dtype,
                theirs.stride(),
            )


def test_only(runs: list[int]) -> None:
    x = torch.randn(4, N)
    with fuseops.use_aten(only=["aten::silu", "tanh"]):
        F.gelu(x)
        assert runs[0] == 0
        torch.tanh(x)
        F.silu(x)
        assert runs[0] == 2


def test_name_that_cannot_be_overridden() -> None:
    with (
        pytest.raises(fuseops.FuseOpsError, match="but got `add`"),
        fuseops.use_aten(only=["add"]),
    ):
        pass


def test_nested_and_undone_by_an_error(runs: list[int]) -> None:
    x = torch.randn(4, N)
    with fuseops.use_aten(only=["silu"]):
        with pytest.raises(KeyError), fuseops.use_aten():
            raise KeyError
        F.silu(x)
        assert runs[0] == 1
        F.gelu(x)
        assert runs[0] == 1
    F.silu(x)
    assert runs[0] == 1


@pytest.mark.parametrize(
    "x",
    [
        torch.randn(4, N).t(),
        torch.randn(4, 2 * N)[:, ::2],
        torch.empty(0, N),
        torch.empty(4, 0),
        torch.randn(1, N).expand(4, N),
        torch.randn(4, N).to(torch.complex64),
    ],
    ids=["transposed", "sliced", "no-rows", "no-columns", "repeated", "complex"],
)
def test_what_is_not_taken_is_pytorchs(x: torch.Tensor, runs: list[int]) -> None:
    expected = torch.sigmoid(x)
    with fuseops.use_aten():
        actual = torch.sigmoid(x)
    assert runs[0] == 0
    assert torch.equal(actual, expected)
    assert actual.stride() == expected.stride()


def test_softmax_of_another_dimension_is_pytorchs(runs: list[int]) -> None:
    x = torch.randn(4, N)
    with fuseops.use_aten():
        assert torch.equal(x.softmax(0), torch.softmax(x.clone(), 0))
    assert runs[0] == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: F.silu(torch.ones(4, N, dtype=torch.int64)),
        lambda: F.gelu(torch.ones(4, N, dtype=torch.bool)),
        lambda: F.layer_norm(torch.randn(4, N), (N + 1,)),
        lambda: F.layer_norm(torch.randn(4, N), (N,), torch.ones(3)),
        lambda: F.layer_norm(torch.randn(4, N), (N,), torch.ones(N).bfloat16()),
        lambda: torch.softmax(torch.randn(4, N), 2),
        lambda: torch.ops.aten.silu_backward(torch.randn(3, N), torch.randn(4, N)),
        lambda: torch.ops.aten.gelu(torch.randn(4, N), approximate="cubic"),
    ],
    ids=["int", "bool", "shape", "weight", "mixed", "dimension", "sizes", "approximate"],
)
def test_errors_are_eagers(call: Callable[[], Any]) -> None:
    with pytest.raises((RuntimeError, IndexError)) as expected:
        call()
    with fuseops.use_aten(), pytest.raises(expected.type) as actual:
        call()
    assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile_inside_and_outside(backend: str, device: str) -> None:
    """FlagGems' issue 249: the gradient of tanh under torch.compile met fake tensors
    without data."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(torch.tanh(x) * F.silu(x), (N,)).softmax(-1)

    x, gradient = torch.randn(2, 4, N, device=device)

    def step(called: Callable[..., torch.Tensor]) -> list[torch.Tensor]:
        given = x.clone().requires_grad_()
        y = called(given)
        return [y.detach(), *torch.autograd.grad(y, given, gradient)]

    expected = step(function)
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    with fuseops.use_aten():
        inside = step(compiled)
        entered = step(torch.compile(function, backend=backend, fullgraph=True))
    outside = step(compiled)
    for results in (inside, entered, outside):
        for actual, reference in zip(results, expected, strict=True):
            torch.testing.assert_close(actual, reference, rtol=1e-4, atol=1e-6)


def test_compiled_code_calls_the_overrides(runs: list[int]) -> None:
    """What runs PyTorch's operators one by one runs ours."""
    torch._dynamo.reset()
    function = torch.compile(torch.tanh, backend="aot_eager", fullgraph=True)
    x = torch.randn(4, N, requires_grad=True)
    with fuseops.use_aten():
        function(x).backward(torch.ones(4, N))
    # tanh and tanh_backward; AOTAutograd may take either apart.
    assert runs[0] >= 1


def test_threads(runs: list[int], device: str) -> None:
    """Open in several threads, each of which sees right values all the time."""
    x = torch.randn(32, N, device=device)
    expected, failures = F.gelu(x.double()), []

    def work() -> None:
        for _ in range(50):
            with fuseops.use_aten(only=["gelu"]):
                actual = F.gelu(x)
            if (actual - expected).abs().max() > 1e-5:
                failures.append(actual)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert runs[0] > 0


def test_inference_mode_and_autocast(runs: list[int]) -> None:
    x = torch.randn(4, N)
    with fuseops.use_aten(), torch.inference_mode():
        assert F.silu(x).is_inference()
    with fuseops.use_aten(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert F.gelu(x).dtype == torch.float32
    assert runs[0] == 2
