# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fuseops.nn.functional`: under torch.compile, under autocast, what is random, what is
not computed, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fuseops
import fuseops.nn.functional as F
import numpy as np
import pytest
import torch
import torch._dynamo.testing
import torch.nn.functional as T
from fuseops.torch import operators
from fuseops.torch.backend import fuseops_backend
from philox import keep_mask

from torch_operators.cases import CASES, Case
from torch_operators.test_operators import require_grad, widen

N = 6


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the programs that operators compile."""
    texts = []
    compile_ir = operators.compile_ir

    def recorded(text: str, **options: Any) -> fuseops.Program:
        texts.append(text)
        return compile_ir(text, **options)

    monkeypatch.setattr(operators, "compile_ir", recorded)
    return texts


def _gradients(function: Callable[..., Any], *given: torch.Tensor) -> list[torch.Tensor]:
    results = function(*given)
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    scale = [torch.linspace(-1, 1, r.numel()).to(r).view(r.shape) for r in results]
    wanted = [tensor for tensor in given if tensor.requires_grad]
    return [r.detach() for r in results] + list(torch.autograd.grad(results, wanted, scale))


# Under torch.compile


@pytest.mark.parametrize("backend", ["aot_eager", "inductor", fuseops_backend])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_compile_gives_what_eager_gives(case: Case, backend: Any, device: str) -> None:
    torch._dynamo.reset()
    tensors = require_grad(case.make((2, 3), torch.float32, device), case.wanted)

    def function(*wanted: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(case.call({**tensors, **dict(zip(case.wanted, wanted, strict=True))}))

    given = [tensors[name] for name in case.wanted]
    expected = _gradients(function, *given)
    actual = _gradients(torch.compile(function, backend=backend, fullgraph=True), *given)
    for ours, theirs in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_compile_with_other_numbers_of_rows(compiled: list[str]) -> None:
    """One compilation of torch.compile's and two of ours for all but 0 and 1 rows."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    function = torch.compile(F.silu_and_mul, backend=counter, fullgraph=True, dynamic=True)
    for rows in (2, 5, 3, 9):
        x, y = torch.randn(rows, 18), torch.randn(rows, 18)
        x.requires_grad_()
        z = function(x, y)
        z.sum().backward()
        torch.testing.assert_close(z, T.silu(x) * y)
    assert counter.frame_count == 1
    assert len(compiled) == 2


# Random numbers


def test_dropout_draws_from_torchs_generator(device: str) -> None:
    x = torch.ones(64, 8, device=device)
    torch.manual_seed(5)
    first, second = F.dropout(x, 0.4), F.dropout(x, 0.4)
    assert not torch.equal(first, second)
    torch.manual_seed(5)
    assert torch.equal(F.dropout(x, 0.4), first)
    torch.manual_seed(5)
    seed, offset = F.random_state(x, 0.4).tolist()
    kept = keep_mask((64, 8), seed, offset, 0.4)
    first = first.cpu()
    np.testing.assert_array_equal(first.numpy() != 0, kept)
    assert torch.equal(first[first != 0], torch.full((int(kept.sum()),), 1 / 0.6))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor", fuseops_backend])
def test_seeds_are_no_constants_when_compiled(backend: Any, device: str) -> None:
    torch._dynamo.reset()
    function = torch.compile(lambda x: F.dropout(x, 0.5), backend=backend, fullgraph=True)
    x = torch.ones(64, 8, device=device)
    assert not torch.equal(function(x), function(x))


def test_backward_drops_what_forward_dropped() -> None:
    x = torch.ones(64, 8, requires_grad=True)
    y = F.bias_dropout_add(x, torch.zeros(8), torch.zeros(64, 8), 0.5)
    y.sum().backward()
    assert torch.equal(x.grad != 0, y != 0)


def test_checkpointing_drops_the_same_again() -> None:
    x = torch.randn(64, 8, requires_grad=True)
    torch.manual_seed(1)
    expected = torch.autograd.grad(F.dropout(T.silu(x), 0.5).square().sum(), x)[0]
    torch.manual_seed(1)
    y = torch.utils.checkpoint.checkpoint(
        lambda x: F.dropout(T.silu(x), 0.5), x, use_reentrant=False
    )
    assert torch.equal(torch.autograd.grad(y.square().sum(), x)[0], expected)


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.5, False)])
def test_nothing_is_dropped(p: float, training: bool) -> None:
    x, residual = torch.randn(4, N), torch.randn(4, N)
    assert F.dropout(x, p, training) is x
    y = F.bias_dropout_add(x, None, residual, p, training)
    assert torch.equal(y, x + residual)
    y, total = F.dropout_add_rms_norm(x, residual, (N,), p=p, training=training)
    torch.testing.assert_close(y, T.rms_norm(x + residual, (N,)))
    assert torch.equal(total, x + residual)


def test_everything_is_dropped() -> None:
    x = torch.randn(4, N, requires_grad=True)
    residual = torch.randn(4, N)
    for y in (F.dropout(x, 1.0), F.bias_dropout_add(x, torch.ones(N), residual, 1.0) - residual):
        assert torch.equal(y, torch.zeros(4, N))
        assert torch.equal(torch.autograd.grad(y.sum(), x)[0], torch.zeros(4, N))
    assert torch.equal(F.dropout_add_rms_norm(x, residual, (N,), p=1.0)[1], residual)


# Gradients


def test_gradients_that_nobody_needs_are_not_computed(compiled: list[str]) -> None:
    x, weight = torch.randn(3, 10, requires_grad=True), torch.randn(10)
    F.rms_norm(x, (10,), weight).sum().backward()
    assert "%weight: tensor<10xf32> {fuseops.frozen}" in compiled[-1]
    assert "%x: tensor<?x10xf32>," in compiled[-1]


def test_missing_gradients_of_results_contribute_nothing(compiled: list[str]) -> None:
    tensors = [torch.randn(3, 10, requires_grad=True) for _ in range(2)]
    weight = torch.randn(10, requires_grad=True)
    y, total = F.skip_rms_norm(*tensors, (10,), weight)
    for tensor in tensors:
        only_sum = torch.autograd.grad(total.sum(), (tensor, weight), None, True, allow_unused=True)
        assert torch.equal(only_sum[0], torch.ones(3, 10))
        assert only_sum[1] is None
    count = len(compiled)
    made = torch.autograd.grad(y.sum(), (*tensors, weight))
    assert len(compiled) == count + 1
    assert "frozen_results = array<i64: 1, 2>" in compiled[-1]
    expected = T.rms_norm(tensors[0] + tensors[1], (10,), weight)
    exact = torch.autograd.grad(expected.sum(), (*tensors, weight))
    for ours, theirs in zip(made, exact, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_gradients_of_both_sums_are_separate_memory() -> None:
    x, residual = torch.randn(3, N, requires_grad=True), torch.randn(3, N, requires_grad=True)
    y, total = F.skip_rms_norm(x, residual, (N,))
    (y + total).square().sum().backward()
    assert torch.equal(x.grad, residual.grad)
    x.grad += 1
    assert not torch.equal(x.grad, residual.grad)


def test_gradient_of_a_residual_is_not_a_copy() -> None:
    residual = torch.randn(3, N, requires_grad=True)
    y = F.bias_dropout_add(torch.randn(3, N), None, residual, 0.5)
    incoming = torch.randn(3, N)
    assert torch.autograd.grad(y, residual, incoming)[0].data_ptr() == incoming.data_ptr()


def test_backward_twice_and_accumulation() -> None:
    x = torch.randn(3, N, requires_grad=True)
    y = F.swiglu(x)
    y.sum().backward(retain_graph=True)
    once = x.grad.clone()
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * once)


def test_one_tensor_as_both_arguments() -> None:
    x = torch.randn(3, N, requires_grad=True)
    made = torch.autograd.grad(F.silu_and_mul(x, x).sum(), x)[0]
    torch.testing.assert_close(made, torch.autograd.grad((T.silu(x) * x).sum(), x)[0])


def test_saved_tensors_are_checked_for_changes() -> None:
    x = torch.randn(3, N, requires_grad=True)
    held = x * 1
    y = F.swiglu(held)
    held.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_second_derivative_is_refused() -> None:
    x = torch.randn(3, N, requires_grad=True)
    made = torch.autograd.grad(F.swiglu(x).sum(), x, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="expected `swiglu` to be differentiated once"):
        made.sum().backward()


def test_inputs_are_not_kept_for_a_rotation() -> None:
    """Of a rotation only the tables are saved, where they have no gradient."""
    x = torch.randn(2, 5, 3, 4, requires_grad=True)
    y = F.rotary_embedding(x, torch.randn(5, 2), torch.randn(5, 2))
    saved = [t for t in y.grad_fn.saved_tensors if t is not None]
    assert all(t.shape[-2:] == (1, 2) for t in saved)


# Dtypes


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_as_pytorchs_functions(dtype: torch.dtype, device: str) -> None:
    x, weight = torch.randn(3, N, device=device), torch.ones(N, device=device)
    target = torch.zeros(3, dtype=torch.int64, device=device)
    narrow = x.to(dtype)
    pairs: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
        (F.dropout, T.dropout),
        (lambda x: F.layer_norm(x, (N,)), lambda x: T.layer_norm(x, (N,))),
        (lambda x: F.rms_norm(x, (N,), weight), lambda x: T.rms_norm(x, (N,), weight)),
        (lambda x: F.silu_and_mul(x, x), lambda x: T.silu(x) * x),
        (F.glu, T.glu),
        (F.softmax, lambda x: T.softmax(x, -1)),
        (F.log_softmax, lambda x: T.log_softmax(x, -1)),
        (lambda x: F.cross_entropy(x, target), lambda x: T.cross_entropy(x, target)),
        (lambda x: F.bias_gelu(x, weight), lambda x: T.gelu(x + weight)),
    ]
    for ours, theirs in pairs:
        for tensor in (x, narrow):
            assert ours(tensor).dtype == theirs(tensor).dtype
            with torch.autocast(device, dtype=dtype):
                assert ours(tensor).dtype == theirs(tensor).dtype


def test_autocast_of_a_loss_is_in_f32() -> None:
    x = torch.randn(3, N, dtype=torch.bfloat16, requires_grad=True)
    target = torch.tensor([1, 2, 3])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.cross_entropy(x, target)
    torch.testing.assert_close(loss, T.cross_entropy(x.float(), target))
    assert torch.autograd.grad(loss, x)[0].dtype == torch.bfloat16


def test_mixed_dtypes_promote() -> None:
    x = torch.randn(3, N, dtype=torch.bfloat16, requires_grad=True)
    y = torch.randn(3, N, requires_grad=True)
    z = F.silu_and_mul(x, y)
    assert z.dtype == torch.float32
    z.sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (torch.bfloat16, torch.float32)
    y, total = F.skip_layer_norm(x, y, (N,), torch.ones(N), torch.zeros(N))
    assert y.dtype == total.dtype == torch.float32


def test_weight_of_f32_with_narrower_rows() -> None:
    x = torch.randn(3, N, dtype=torch.bfloat16)
    weight = torch.randn(N, requires_grad=True)
    for ours, theirs in ((F.rms_norm, T.rms_norm), (F.layer_norm, T.layer_norm)):
        actual, expected = ours(x, (N,), weight), theirs(x, (N,), weight)
        assert actual.dtype == expected.dtype
        torch.testing.assert_close(actual, expected, rtol=2**-7, atol=2**-7)
        made = torch.autograd.grad(actual.float().sum(), weight)[0]
        exact = torch.autograd.grad(theirs(x.float(), (N,), weight).sum(), weight)[0]
        torch.testing.assert_close(made, exact, rtol=1e-2, atol=1e-2)


# Shapes


def test_normalization_of_two_dimensions() -> None:
    x, factor = torch.randn(2, 3, 4), torch.randn(3, 4)
    for ours, theirs in ((F.rms_norm, T.rms_norm), (F.layer_norm, T.layer_norm)):
        torch.testing.assert_close(ours(x, (3, 4), factor), theirs(x, (3, 4), factor))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_rms_norm_without_eps_takes_pytorchs(dtype: torch.dtype) -> None:
    x = torch.full((2, 8), 1e-4, dtype=dtype)
    torch.testing.assert_close(F.rms_norm(x, (8,)), T.rms_norm(x, (8,)))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("shape", [(7,), (5, 7), (2, 7, 3), (2, 7, 3, 4), (0, 7)])
def test_cross_entropy_shapes(shape: tuple[int, ...], reduction: str) -> None:
    logits = torch.randn(shape, requires_grad=True)
    size = shape[:1] + shape[2:] if len(shape) > 1 else ()
    target = torch.randint(0, 7, size)
    if target.dim() and target.numel():
        target.view(-1)[0] = -100
    for smoothing in (0.0, 0.1):
        options = {"reduction": reduction, "label_smoothing": smoothing}
        ours = F.cross_entropy(logits, target, **options)
        theirs = T.cross_entropy(logits, target, **options)
        torch.testing.assert_close(ours, theirs, equal_nan=True)
        made = [torch.autograd.grad(loss.sum(), logits)[0] for loss in (ours, theirs)]
        torch.testing.assert_close(*made)


def test_softmax_of_any_dimension() -> None:
    x = torch.randn(2, 3, 4)
    for dim in (0, 1, 2, -1, -2):
        torch.testing.assert_close(F.softmax(x, dim), x.softmax(dim))
        torch.testing.assert_close(F.log_softmax(x, dim), x.log_softmax(dim))
    torch.testing.assert_close(F.softmax(x[0, 0, 0], 0), x[0, 0, 0].softmax(0))
    assert F.softmax(x.bfloat16(), dtype=torch.float32).dtype == torch.float32


def test_rotation_tables_broadcast() -> None:
    x = torch.randn(2, 5, 3, 4)
    cos, sin = torch.randn(5, 2), torch.randn(5, 2)
    a, b = x.chunk(2, -1)
    c, s = cos[:, None], sin[:, None]
    torch.testing.assert_close(
        F.rotary_embedding(x, cos, sin), torch.cat([a * c - b * s, b * c + a * s], -1)
    )
    gathered = F.rotary_embedding(x, cos.expand(2, 5, 2), sin.expand(2, 5, 2))
    assert torch.equal(gathered, F.rotary_embedding(x, cos, sin))


# Errors


X = torch.randn(3, N)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "integers": (lambda: F.swiglu(X.long()), "expected `x` to have one of f16, bf16, f32, f64"),
    "odd halves": (lambda: F.swiglu(X[:, :5]), "expected `x` to have an even last size, but got 5"),
    "no dimension": (lambda: F.swiglu(X[0, 0]), "expected `x` to have 1 or more dimensions"),
    "rows": (lambda: F.silu_and_mul(X, X[:2]), r"expected `y` to have the leading sizes \(3,\)"),
    "columns": (lambda: F.silu_and_mul(X, X[:, :4]), "expected `y` to have the trailing sizes"),
    "weight": (lambda: F.rms_norm(X, (N,), X[0, :4]), r"expected `weight` to have shape \[6\]"),
    "normalized": (lambda: F.rms_norm(X, (4,)), r"expected `x` to have the trailing sizes \[4\]"),
    "mixed": (
        lambda: F.layer_norm(X, (N,), torch.ones(N).bfloat16()),
        "expected `weight` to have dtype torch.float32, but got torch.bfloat16",
    ),
    "device": (lambda: F.silu_and_mul(X, X.to("meta")), "expected `y` to be on cpu"),
    "bias": (lambda: F.bias_gelu(X, X), r"expected `bias` to have shape \(6,\)"),
    "approximate": (lambda: F.geglu(X, "cubic"), "expected `approximate` to be none or tanh"),
    "probability": (lambda: F.dropout(X, 1.5), "expected `p` to be a probability, but got 1.5"),
    "reduction": (
        lambda: F.cross_entropy(X, torch.zeros(3, dtype=torch.int64), reduction="max"),
        "expected `reduction` to be none, sum or mean, but got max",
    ),
    "class": (lambda: F.cross_entropy(X, torch.tensor([0, 9, 1])), "Target 9 is out of bounds."),
    "target": (lambda: F.cross_entropy(X, X[:, 0]), "expected `target` to have dtype int64"),
    "tables": (
        lambda: F.rotary_embedding(torch.randn(5, 2, 4), torch.randn(5, 4), torch.randn(5, 2)),
        r"expected `cos` to have the trailing sizes \(1, 2\), but got \(1, 4\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises((RuntimeError, ValueError, IndexError), match=message):
        call()


def test_strided_arguments_need_no_copies_to_be_right() -> None:
    base = torch.randn(6, 2 * N, 4).transpose(1, 2)
    x = base[::2, :, ::2]
    wide = widen({"x": x})["x"]
    actual = F.l2_norm(x)
    exact = wide / (wide.square().sum(-1, keepdim=True) + 1e-6).sqrt()
    torch.testing.assert_close(actual.double(), exact, rtol=1e-5, atol=1e-6)
