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
from operator import getitem
from typing import Any

import torch
from torch._dynamo.source import ConstantSource
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
    that each result has in PyTorch, None of one that isn't asked for."""

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
    gradient: torch.Tensor, x: torch.Tensor, shape: Sequence[int], *others: Any
) -> Call | None:
    mean, rstd, weight, bias, mask = others
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
    shapes = (x.shape, shape, shape)
    kept = (tuple(s) if is_asked else None for s, is_asked in zip(shapes, mask, strict=True))
    return Call(arguments, tuple(kept))


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


def _symbolic_rows() -> torch.SymInt:
    """A size that is no number, with a hint that no size has."""
    shapes = ShapeEnv()
    source = ConstantSource("rows")
    symbol = shapes.create_symbol(9973, source, dynamic_dim=DimDynamic.DYNAMIC)
    return shapes.create_symintnode(symbol, hint=9973, source=source)


def _import_call(overload: torch._ops.OpOverload, call: Call) -> str:
    """The text of a call with a symbolic number of rows."""
    graph, rows = Graph(), _symbolic_rows()
    with FakeTensorMode(shape_env=rows.node.shape_env):

        def convert(argument: Any) -> Any:
            tensor = argument.tensor if isinstance(argument, Rows) else argument
            if not isinstance(tensor, torch.Tensor):
                return argument
            sizes = tensor.shape if tensor is argument else (rows, tensor.shape[1])
            node = graph.placeholder(f"argument{len(graph.nodes)}")
            node.meta["val"] = torch.empty(sizes, dtype=tensor.dtype, device=tensor.device)
            return node

        node = graph.call_function(overload, *_split(overload, map(convert, call.arguments)))
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
        node.meta["val"] = made = overload(*args, **kwargs)
    if isinstance(made, torch.Tensor):
        graph.output((node,))
        return import_graph(GraphModule(torch.nn.Module(), graph))
    results = []
    for index, value in enumerate(made):
        if value is not None:
            results.append(graph.call_function(getitem, (node, index)))
            results[-1].meta["val"] = value
    graph.output(tuple(results))
    return import_graph(GraphModule(torch.nn.Module(), graph))


def _split(
    overload: torch._ops.OpOverload, values: Iterable[Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments in the order of the schema as positional and keyword ones."""
    positional: list[Any] = []
    named = {}
    for argument, value in zip(overload._schema.arguments, values, strict=True):
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            positional.append(value)
    return tuple(positional), named


class _Override:
    """The kernel of one overload on one device."""

    def __init__(self, overload: torch._ops.OpOverload, plan: Plan, key: str) -> None:
        self._overload = overload
        self._plan = plan
        self._key = key
        self._programs: dict[Any, Program | None] = {}
        self._lock = threading.Lock()

    def bind(self) -> None:
        """Finds the kernel that is registered now."""
        self._original = torch.library.get_kernel(self._overload, self._key)

    def __call__(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        call = self._plan(*args, **kwargs)
        if call is None:
            return self._original.call_boxed(keys, *args, **kwargs)
        key = tuple(map(_describe, call.arguments))
        found = self._programs.get(key, False)
        if found is False:
            found = self._compile(key, call)
        if found is None:
            return self._original.call_boxed(keys, *args, **kwargs)
        given = (a.tensor if isinstance(a, Rows) else a for a in call.arguments)
        made = found.run_forward([a for a in given if isinstance(a, torch.Tensor)])
        if len(call.shapes) == 1:
            return made[0].view(call.shapes[0])
        results = iter(made)
        return tuple(None if shape is None else next(results).view(shape) for shape in call.shapes)

    def _compile(self, key: Any, call: Call) -> Program | None:
        with self._lock:
            if key not in self._programs:
                try:
                    text = _import_call(self._overload, call)
                    self._programs[key] = compile_ir(text, target=self._key.lower())
                except FuseOpsError as error:
                    _LOG.info("%s stays PyTorch's: %s", self._overload, error)
                    self._programs[key] = None
            return self._programs[key]


class _Overrides:
    """What is overridden, in the whole process, and how often it was asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kernels: dict[tuple[str, str], _Override] = {}
        self._open: dict[str, tuple[int, torch.library.Library | None]] = {}

    def enter(self, name: str) -> None:
        with self._lock:
            count, library = self._open.get(name, (0, None))
            if library is None:
                library = torch.library.Library("aten", "IMPL")
                self._register(library, name)
            self._open[name] = (count + 1, library)

    def leave(self, name: str) -> None:
        with self._lock:
            count, library = self._open.pop(name)
            if count > 1:
                self._open[name] = (count - 1, library)
            else:
                library._destroy()

    def _register(self, library: torch.library.Library, name: str) -> None:
        overload = getattr(torch.ops.aten, name).default
        for key in _DEVICES:
            if not torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), key):
                continue
            kernel = self._kernels.get((name, key))
            if kernel is None:
                kernel = self._kernels[name, key] = _Override(overload, PLANS[name], key)
            kernel.bind()
            with warnings.catch_warnings():
                # That there was a kernel before is the point.
                warnings.filterwarnings("ignore", message="Warning only once for all operators")
                # Dynamo looks at each Python frame, also at one that a kernel is.
                call = torch.compiler.disable(kernel)
                library.impl(name, call, key, with_keyset=True, allow_override=True)


_OVERRIDES = _Overrides()


@contextlib.contextmanager
def use_aten(only: Iterable[str] | None = None) -> Iterator[None]:
    """Overrides PyTorch's kernels by FuseOps programs, on the CPU and CUDA: those of
    `only`, names as `gelu` or `aten::gelu_backward`, or all of `PLANS`.

    It holds in the whole process, also in other threads, since a backward runs on
    threads of its own; what is open in several places ends with the last. PyTorch's
    kernel takes what a program doesn't: other dtypes, strided or empty tensors,
    softmax of another dimension, and arguments that it raises an error for. Raises
    FuseOpsError for a name that can't be overridden.
    """
    if not hasattr(torch.library, "get_kernel"):
        raise FuseOpsError(
            f"expected PyTorch to have `torch.library.get_kernel`, but got {torch.__version__}"
        )
    given = PLANS if only is None else [name.removeprefix("aten::") for name in only]
    names = list(dict.fromkeys(given))
    for name in names:
        if name not in PLANS:
            raise FuseOpsError(f"expected one of {', '.join(PLANS)}, but got `{name}`")
    with contextlib.ExitStack() as stack:
        for name in names:
            _OVERRIDES.enter(name)
            stack.callback(_OVERRIDES.leave, name)
        yield
