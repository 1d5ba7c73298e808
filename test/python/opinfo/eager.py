# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results and gradients as eager PyTorch computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from opinfo.cases import Case

# Calls that say how far off eager PyTorch may be.
_DRAWS = 8
# What PyTorch raises where a call isn't one.
ERRORS = (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError, AssertionError)


@dataclass(frozen=True)
class Gradients:
    """The gradient of each tensor, None where it has none, and which of the
    floating-point results it came through."""

    values: list[torch.Tensor | None]
    through: list[bool]


def _scattered(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Copies with gaps between the elements, for which PyTorch has no vector code."""
    copies = [tensor.new_zeros((*tensor.shape, 2)) for tensor in tensors]
    for copy, tensor in zip(copies, tensors, strict=True):
        copy[..., 0] = tensor
    return [copy[..., 0] for copy in copies]


def results_of(
    function: Callable[..., Any], tensors: Sequence[torch.Tensor], is_scattered: bool = False
) -> list[Any]:
    """What the call returns, which may write its arguments; without PyTorch's vector code if
    `is_scattered`."""
    copies = _scattered(tensors) if is_scattered else [tensor.clone() for tensor in tensors]
    with torch.no_grad():
        return pytree.tree_leaves(function(*copies))


def gradients_of(
    function: Callable[..., Any],
    tensors: Sequence[torch.Tensor],
    requires_grad: Sequence[bool],
    upstream: Sequence[torch.Tensor],
    *,
    is_scattered: bool = False,
) -> Gradients | None:
    """The gradients for those of the floating-point results; None where no
    result has one, or PyTorch has no derivative. As `results_of` if `is_scattered`."""
    if is_scattered:
        tensors, upstream = _scattered(tensors), _scattered(upstream)
    with torch.enable_grad():
        leaves = [
            tensor.detach().requires_grad_(flag)
            for tensor, flag in zip(tensors, requires_grad, strict=True)
        ]
        results = [
            result
            for result in pytree.tree_leaves(function(*leaves))
            if isinstance(result, torch.Tensor) and result.is_floating_point()
        ]
        through = [result.requires_grad for result in results]
        if not any(through):
            return None
        pairs = [
            pair
            for pair, flag in zip(zip(results, upstream, strict=True), through, strict=True)
            if flag
        ]
        try:
            found = torch.autograd.grad(
                [result for result, _ in pairs],
                [leaf for leaf in leaves if leaf.requires_grad],
                [gradient for _, gradient in pairs],
                allow_unused=True,
            )
        except (RuntimeError, NotImplementedError) as error:
            # It has none, or none for bounds of clamp that are larger than what
            # is clamped.
            if not any(text in str(error) for text in ("derivative for", "the broadcast shape")):
                raise
            return None
        remaining = iter(found)
        return Gradients([next(remaining) if flag else None for flag in requires_grad], through)


def _widen(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor.double() if tensor.is_floating_point() else tensor for tensor in tensors]


def is_narrow(case: Case) -> bool:
    """Whether f64 is more exact than the sample's tensors."""
    dtypes = {tensor.dtype for tensor in case.tensors if tensor.is_floating_point()}
    return bool(dtypes - {torch.float64})


def errors_of(
    evaluate: Callable[[Sequence[torch.Tensor]], Sequence[torch.Tensor | None]],
    tensors: Sequence[torch.Tensor],
) -> list[torch.Tensor | None]:
    """How far off eager PyTorch may be: the largest error of a few calls whose tensors differ by a
    rounding. Where terms cancel, one call may be right by luck."""
    generator = torch.Generator().manual_seed(0)
    largest: list[torch.Tensor | None] = []
    for _ in range(_DRAWS):
        moved = [_moved(tensor, generator) for tensor in tensors]
        try:
            pairs = list(zip(evaluate(moved), evaluate(_widen(moved)), strict=True))
        except ERRORS:
            continue
        largest = largest or [None] * len(pairs)
        for index, (rough, exact) in enumerate(pairs):
            if rough is None or not rough.is_floating_point() or rough.shape != exact.shape:
                continue
            error = (rough.double() - exact.double()).abs().nan_to_num(0.0, posinf=0.0)
            before = largest[index]
            largest[index] = error if before is None else torch.maximum(before, error)
    return largest


def _moved(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The tensor with each number a rounding larger or smaller."""
    if not tensor.is_floating_point():
        return tensor
    signs = torch.randint(0, 2, tensor.shape, generator=generator, dtype=torch.float64) * 2 - 1
    return (tensor.double() * (1 + torch.finfo(tensor.dtype).eps * signs)).to(tensor.dtype)


def results_in_f64(case: Case) -> list[torch.Tensor] | None:
    """The results in f64, None where the call gives none there."""
    if not is_narrow(case):
        return None
    try:
        return results_of(case.function, _widen(case.tensors))
    except ERRORS:
        return None


def gradients_in_f64(case: Case, upstream: Sequence[torch.Tensor]) -> Gradients | None:
    """The gradients in f64, None where the call gives none there."""
    if not is_narrow(case):
        return None
    try:
        wide = _widen(upstream)
        return gradients_of(case.function, _widen(case.tensors), case.requires_grad, wide)
    except ERRORS:
        return None
