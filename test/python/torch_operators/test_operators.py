# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators against PyTorch's formulas in f64, and from many threads."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from torch_operators.cases import CASES, Case

LEADING = [(5,), (2, 3), (1,), (), (0,), (2, 0)]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
# Roundoff of a dtype; a result is rounded once, f32 and f64 also inside.
ROUNDOFF = {
    torch.float64: 2**-53,
    torch.float32: 2**-24,
    torch.bfloat16: 2**-8,
    torch.float16: 2**-11,
}


def require_grad(tensors: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Detached copies, some of which want gradients."""
    return {
        name: None if tensor is None else tensor.detach().requires_grad_(name in names)
        for name, tensor in tensors.items()
    }


def widen(tensors: dict[str, Any]) -> dict[str, Any]:
    return pytree.tree_map_only(
        torch.Tensor, lambda t: t.double() if t.is_floating_point() else t, tensors
    )


def check_close(actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    """Within some roundings of the largest element: an f16 or bf16 program rounds a
    sum that is a result, what is made of it, and a gradient; the others round inside."""
    assert actual.dtype in (dtype, torch.float32)
    assert actual.shape == expected.shape
    if expected.numel():
        scale = expected.abs().max().clamp(min=1.0)
        bound = (8 if dtype.itemsize == 2 else 64) * ROUNDOFF[dtype] * scale
        assert (actual.double() - expected).abs().max() <= bound


def test_every_operator_has_a_case() -> None:
    defined = {
        name.removeprefix("fuseops::").partition(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("fuseops::")
    }
    operators = {name for name in defined if f"{name}_backward" in defined}
    assert {case.operator for case in CASES} == operators


def test_many_threads_from_the_first_call_on(device: str) -> None:
    x = torch.randn(5, 26, requires_grad=True, device=device)
    a, b = x.double().chunk(2, -1)
    exact = torch.nn.functional.silu(a) * b
    expected = torch.autograd.grad(exact.sum(), x)[0]
    failures, barrier = [], threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        for _ in range(50):
            y = torch.ops.fuseops.swiglu(x)
            made = torch.autograd.grad(y.sum(), x)[0]
            if (y - exact).abs().max() > 1e-5 or (made - expected).abs().max() > 1e-5:
                failures.append(made)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_formula_in_f64(case: Case, dtype: torch.dtype, device: str) -> None:
    for seed, leading in enumerate(LEADING):
        tensors = case.make(leading, dtype, device, seed)
        given = require_grad(tensors, case.wanted)
        wide = require_grad(widen(tensors), case.wanted)
        results, expected = case.call(given), case.expected(wide)
        gradients = [torch.randn_like(result) for result in results]
        made = torch.autograd.grad(results, [given[n] for n in case.wanted], gradients)
        exact = torch.autograd.grad(
            expected, [wide[n] for n in case.wanted], [g.double() for g in gradients]
        )
        for actual, reference in zip((*results, *made), (*expected, *exact), strict=True):
            check_close(actual.detach(), reference.detach(), dtype)
