# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of PyTorch's operator database as functions of tensors."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, OpInfo
from torch.utils import _pytree as pytree

DTYPES = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f64": torch.float64,
    "i32": torch.int32,
    "i64": torch.int64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}


@dataclass(frozen=True)
class Case:
    """One sample: `function(*tensors)` is the call, everything else baked in."""

    op: str
    dtype: str
    index: int
    function: Callable[..., Any]
    tensors: tuple[torch.Tensor, ...]
    # Which of them the operator is differentiated by.
    requires_grad: tuple[bool, ...]

    @property
    def name(self) -> str:
        """`op/dtype/index`, as --only takes it."""
        return f"{self.op}/{self.dtype}/{self.index}"


@cache
def operators() -> dict[str, OpInfo]:
    """Every operator by its name and variant."""
    return {op.full_name: op for op in op_db}


def _samples(op: OpInfo, dtype: torch.dtype, limit: int) -> list[Any]:
    """Up to `limit` samples, and as many of the longer list of reference inputs,
    where there is one: it has more broadcasting, strides and special values."""
    is_differentiable = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    options = {"device": "cpu", "dtype": dtype, "requires_grad": is_differentiable}
    found = list(itertools.islice(op.sample_inputs(**options), limit))
    if op.reference_inputs_func is not None:
        try:
            found += itertools.islice(op.reference_inputs(**options), limit)
        except ValueError:
            # Some ask for gradients of integers too.
            options["requires_grad"] = False
            found += itertools.islice(op.reference_inputs(**options), limit)
    # Generators that are still open would switch gradients while a call is traced.
    gc.collect()
    return found


def _calls(op: OpInfo, dtype: torch.dtype, limit: int) -> Iterator[tuple[Any, Any]]:
    """Functions and their arguments: the operator's samples, then one of them for
    each other name that the operator has, and with numbers for tensors."""
    found = [(s.input, tuple(s.args), dict(s.kwargs)) for s in _samples(op, dtype, limit)]
    for values in found:
        yield op.op, values
    if not found:
        return
    names = [alias.op for alias in op.aliases]
    names += [op.operator_variant] if op.operator_variant else []
    for function in names:
        yield function, found[0]
    if not isinstance(op, BinaryUfuncInfo):
        return
    first, rest, options = found[0]
    if not isinstance(first, torch.Tensor) or not rest or not isinstance(rest[0], torch.Tensor):
        return
    for function in (op.op, *names):
        if op.supports_rhs_python_scalar and rest[0].numel():
            number = rest[0].flatten()[0].item()
            yield function, (first, (number, *rest[1:]), options)
        if op.supports_one_python_scalar and first.numel():
            yield function, (first.flatten()[0].item(), rest, options)


def cases(name: str, dtype: str, limit: int) -> Iterator[Case]:
    """The samples of an operator, drawn from a fixed seed; none where it doesn't
    take the dtype."""
    op = operators()[name]
    if DTYPES[dtype] not in op.supported_dtypes("cpu"):
        return
    torch.manual_seed(0)
    for index, (function, values) in enumerate(_calls(op, DTYPES[dtype], limit)):
        leaves, spec = pytree.tree_flatten(values)
        positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        # Each argument is a tensor of its own, also where a sample repeats one.
        seen: set[int] = set()
        tensors = []
        for i in positions:
            tensor = leaves[i].detach()
            tensors.append(tensor.clone() if id(leaves[i]) in seen else tensor)
            seen.add(id(leaves[i]))
        flags = tuple(leaves[i].requires_grad for i in positions)
        baked = _bake(function, leaves, spec, positions)
        yield Case(name, dtype, index, baked, tuple(tensors), flags)


def _bake(
    op: Callable[..., Any], leaves: list[Any], spec: pytree.TreeSpec, positions: list[int]
) -> Callable[..., Any]:
    def call(*tensors: torch.Tensor) -> Any:
        values = list(leaves)
        for position, tensor in zip(positions, tensors, strict=True):
            values[position] = tensor
        first, args, kwargs = pytree.tree_unflatten(values, spec)
        return op(first, *args, **kwargs)

    return call
