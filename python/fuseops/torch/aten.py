# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`use_aten`: FuseOps programs in the place of PyTorch's kernels in eager execution.

Registers kernels for the CPU and CUDA keys only. Autograd, meta and composite
kernels stay PyTorch's, so that gradients, fake tensors and torch.compile see
nothing new: the operator of a gradient, as tanh_backward, is overridden like any.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from fuseops.compiler import compile_ir
from fuseops.errors import FuseOpsError
from fuseops.program import Program
from fuseops.torch.importer import import_graph

_LOG = logging.getLogger(__name__)
_DEVICES = ("CPU", "CUDA")
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
# The most columns of a row that a pointwise operation is computed by.
_MAX_COLUMNS = 4096
_MIN_COLUMNS = 64


@dataclass(frozen=True)
class Rows:
    """A tensor `[M, N]` of which M is symbolic in the program."""

    tensor: torch.Tensor


@dataclass(frozen=True)
class Call:
    """A call as a program takes it: tensors that are rows as such, and the shape
    that each result has in PyTorch; None where it is as the program has it."""

    arguments: tuple[Any, ...]
    shapes: tuple[tuple[int, ...] | None, ...]


# A way to take the arguments of a call; None where PyTorch's kernel is to take it.
Plan = Callable[..., Call | None]


def _are_taken(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether tensors are packed floats, with elements, as a program reads them."""
    return all(
        tensor.dtype in _FLOATS
        and tensor.is_contiguous()
        and tensor.numel() > 0
        and not tensor.is_neg()
        for tensor in tensors
    )


def _as_rows(tensor: torch.Tensor, columns: int) -> Rows:
    return Rows(tensor.view(-1, columns))


def _plan_pointwise(*arguments: Any, **options: Any) -> Call | None:
    """Tensors of one shape and dtype. Since they are packed any number of columns
    will do: a power of two, of which there are few, where one divides."""
    tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
    first = tensors[0]
    is_uniform = all(t.shape == first.shape and t.dtype == first.dtype for t in tensors)
    if not is_uniform or not _are_taken(tensors):
        return None
    count = first.numel()
    columns = min(count & -count, _MAX_COLUMNS)
    if columns < _MIN_COLUMNS:
        columns = first.shape[-1] if first.dim() else 1
    taken = [
        _as_rows(argument, columns) if isinstance(argument, torch.Tensor) else argument
        for argument in arguments
    ]
    return Call((*taken, *options.values()), (tuple(first.shape),))


def _plan_gelu(x: torch.Tensor, *, approximate: str = "none") -> Call | None:
    return _plan_pointwise(x, approximate=approximate)


def _plan_gelu_backward(
    gradient: torch.Tensor, x: torch.Tensor, *, approximate: str = "none"
) -> Call | None:
    return _plan_pointwise(gradient, x, approximate=approximate)


def _plan_leaky_relu(x: torch.Tensor, slope: float = 0.01) -> Call | None:
    return _plan_pointwise(x, slope)


def _plan_softmax(x: torch.Tensor, dim: int, is_widened: bool) -> Call | None:
    if is_widened or x.dim() == 0 or dim not in (-1, x.dim() - 1) or not _are_taken([x]):
        return None
    return Call((_as_rows(x, x.shape[-1]), 1, False), (tuple(x.shape),))


def _plan_softmax_backward(
    gradient: torch.Tensor, y: torch.Tensor, dim: int, dtype: torch.dtype
) -> Call | None:
    is_uniform = gradient.shape == y.shape and gradient.dtype == y.dtype == dtype
    if not is_uniform or y.dim() == 0 or dim not in (-1, y.dim() - 1):
        return None
    if not _are_taken([gradient, y]):
        return None
    columns = y.shape[-1]
    return Call((_as_rows(gradient, columns), _as_rows(y, columns), 1, dtype), (tuple(y.shape),))


def _columns_of(x: torch.Tensor, shape: Sequence[int], factors: Sequence[Any]) -> int | None:
    """The number of elements that a normalization's row has; None where the sizes
    don't go together, which PyTorch's kernel says."""
    if not shape or list(x.shape[x.dim() - len(shape) :]) != list(shape):
        return None
    if any(factor is not None and list(factor.shape) != list(shape) for factor in factors):
        return None
    given = [x, *(factor for factor in factors if factor is not None)]
    # Of mixed dtypes each device has rules of its own.
    if not _are_taken(given) or any(tensor.dtype != x.dtype for tensor in given):
        return None
    return x[(0,) * (x.dim() - len(shape))].numel()


def _flat(factor: torch.Tensor | None) -> torch.Tensor | None:
    return None if factor is None else factor.view(-1)


def _plan_layer_norm(
    x: torch.Tensor,
    shape: Sequence[int],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    eps: float,
) -> Call | None:
    columns = _columns_of(x, shape, (weight, bias))
    if columns is None:
        return None
    statistic = (*x.shape[: x.dim() - len(shape)], *(1 for _ in shape))
    arguments = (_as_rows(x, columns), [columns], _flat(weight), _flat(bias), eps)
    return Call(arguments, (tuple(x.shape), statistic, statistic))


def _plan_layer_norm_backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    shape: Sequence[int],
    mean: torch.Tensor,
    rstd: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mask: Sequence[bool],
) -> Call | None:
    columns = _columns_of(x, shape, (weight, bias))
    if columns is None or gradient.shape != x.shape or gradient.dtype != x.dtype:
        return None
    if not _are_taken([gradient, mean, rstd]) or not any(mask):
        return None
    arguments = (
        _as_rows(gradient, columns),
        _as_rows(x, columns),
        [columns],
        _as_rows(mean, 1),
        _as_rows(rstd, 1),
        _flat(weight),
        _flat(bias),
        list(mask),
    )
    return Call(arguments, (tuple(x.shape), tuple(shape), tuple(shape)))


# The overloads that are overridden, with how their calls are taken.
PLANS: dict[str, Plan] = {
    "silu": _plan_pointwise,
    "silu_backward": _plan_pointwise,
    "gelu": _plan_gelu,
    "gelu_backward": _plan_gelu_backward,
    "relu": _plan_pointwise,
    "threshold_backward": _plan_pointwise,
    "sigmoid": _plan_pointwise,
    "sigmoid_backward": _plan_pointwise,
    "tanh": _plan_pointwise,
    "tanh_backward": _plan_pointwise,
    "leaky_relu": _plan_leaky_relu,
    "leaky_relu_backward": _plan_pointwise,
    "hardswish": _plan_pointwise,
    "hardswish_backward": _plan_pointwise,
    "mish": _plan_pointwise,
    "mish_backward": _plan_pointwise,
    "_softmax": _plan_softmax,
    "_softmax_backward_data": _plan_softmax_backward,
    "_log_softmax": _plan_softmax,
    "_log_softmax_backward_data": _plan_softmax_backward,
    "native_layer_norm": _plan_layer_norm,
    "native_layer_norm_backward": _plan_layer_norm_backward,
}


def _describe(argument: Any) -> Any:
    """What of an argument the program depends on."""
    if isinstance(argument, Rows):
        return (argument.tensor.shape[1], argument.tensor.dtype)
    if isinstance(argument, torch.Tensor):
        return (tuple(argument.shape), argument.dtype)
    return tuple(argument) if isinstance(argument, list) else argument


def _import_call(overload: torch._ops.OpOverload, call: Call, device: torch.device) -> str:
    """The text of a call with a symbolic number of rows."""
    shapes = ShapeEnv()
    # A name that no size has, and a hint that isn't one either.
    source = torch._dynamo.source.ConstantSource("rows")
    symbol = shapes.create_symbol(9973, source, dynamic_dim=DimDynamic.DYNAMIC)
    rows = shapes.create_symintnode(symbol, hint=9973, source=source)
    graph = Graph()
    with FakeTensorMode(shape_env=shapes):

        def convert(argument: Any) -> Any:
            is_rows = isinstance(argument, Rows)
            if not is_rows and not isinstance(argument, torch.Tensor):
                return argument
            tensor = argument.tensor if is_rows else argument
            sizes = (rows, tensor.shape[1]) if is_rows else tensor.shape
            node = graph.placeholder(f"argument{len(graph.nodes)}")
            node.meta["val"] = torch.empty(sizes, dtype=tensor.dtype, device=device)
            return node

        taken = [convert(argument) for argument in call.arguments]
        positional, named = _split(overload, taken)
        node = graph.call_function(overload, positional, named)
        value = torch.fx.node.map_arg((positional, named), lambda node: node.meta["val"])
        node.meta["val"] = overload(*value[0], **value[1])
    results = node
    if isinstance(node.meta["val"], tuple):
        results = []
        for index, element in enumerate(node.meta["val"]):
            if element is not None:
                item = graph.call_function(_getitem, (node, index))
                item.meta["val"] = element
                results.append(item)
        results = tuple(results)
    graph.output(results)
    return import_graph(GraphModule(torch.nn.Module(), graph))
