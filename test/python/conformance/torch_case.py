# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases whose program is a torch function, imported as the torch dialect: the same function, run
eagerly in f64, is the oracle."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from fuseops.torch.importer import export, import_function, import_graph
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_map

from conformance.case import Arg, Case, Shape, Variant, add, extents
from conformance.runner import FLOATS, INTEGERS, name_of
from conformance.tolerance import UNITS

# torch.export's own use of what torch is about to drop.
warnings.filterwarnings("ignore", message=".*LeafSpec.*", category=FutureWarning)

Function = Callable[..., Tensor | Sequence[Tensor]]
# What `?` is here: programs from torch are traced for one size.
SIZE = 11


def traced(function: Function, arrays: Sequence[Tensor]) -> torch.fx.GraphModule:
    """The graph of aten operations of a call."""

    def call(*given: Tensor) -> object:
        return function(*given)

    with torch.no_grad():
        # make_fx counts the parameters of a function, those with defaults too.
        pure = torch.func.functionalize(call)
        return make_fx(pure, tracing_mode="fake", _allow_non_fake_inputs=True)(*arrays)


def operations(graph: torch.fx.GraphModule) -> set[str]:
    """The names of its operations, such as aten.add.Tensor."""
    return {
        str(node.target)
        for node in graph.graph.nodes
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
    }


@dataclass
class Of:
    """An argument before its shape and dtype are known."""

    range: tuple[float, float] | None = None
    scale: float = 1.5
    offset: float = 0.0
    away: float = 0.0
    # Another dtype than the entry's.
    dtype: str | None = None
    shape: Callable[[Shape], Shape] = lambda s: s
    index: bool = False
    # Nobody differentiates by it.
    constant: bool = False

    def arg(self, shape: Shape, dtype: str) -> Arg:
        """For a shape and dtype of the grid."""
        shape = extents(self.shape(shape), SIZE)
        kind = self.dtype or dtype
        return Arg(shape, kind, self.scale, self.offset, self.range, self.index, self.away)


@dataclass(frozen=True)
class From:
    """A constant of a call that depends on the shape."""

    of: Callable[[Shape], object]


@dataclass(frozen=True)
class Call:
    """A call of one overload, kept as it is: tracing takes composite operations apart and forgets
    aliases. An `Of` among the arguments stands for a tensor, in lists too."""

    overload: torch._ops.OpOverload
    args: tuple[object, ...]
    kwargs: dict[str, object]

    def operands(self) -> list[Of]:
        """What stands for tensors, in order."""
        found: list[Of] = []
        tree_map(lambda a: found.append(a) if isinstance(a, Of) else None, self.args)
        return found

    def _filled(self, values: Sequence[object]) -> tuple[object, ...]:
        rest = iter(values)
        return tree_map(lambda a: next(rest) if isinstance(a, Of) else a, self.args)

    def __call__(self, *arrays: Tensor) -> list[Tensor]:
        outputs = self.overload(*self._filled(arrays), **self.kwargs)
        return [outputs] if isinstance(outputs, Tensor) else list(outputs)

    def graph(self, arrays: Sequence[Tensor]) -> torch.fx.GraphModule:
        """The graph of the call alone."""
        graph = torch.fx.Graph()
        nodes = []
        for number, array in enumerate(arrays):
            nodes.append(graph.placeholder(f"a{number}"))
            nodes[-1].meta["val"] = array
        node = graph.call_function(self.overload, self._filled(nodes), self.kwargs)
        outputs = node.meta["val"] = self.overload(*self._filled(arrays), **self.kwargs)
        if isinstance(outputs, Tensor):
            graph.output((node,))
        else:
            parts = []
            for index, output in enumerate(outputs):
                parts.append(graph.call_function(operator.getitem, (node, index)))
                parts[-1].meta["val"] = output
            graph.output(tuple(parts))
        return torch.fx.GraphModule(torch.nn.Module(), graph)


class TorchCase(Case):
    """A case of a function."""

    def __init__(
        self,
        args: list[Arg],
        function: Function,
        oracle: Function | None = None,
        *,
        exported: bool = False,
        call: Call | None = None,
        **options: object,
    ) -> None:
        self.function = function
        self.call = call
        self.exported = exported
        arrays = [a.sample(torch.Generator().manual_seed(0), SIZE) for a in args]
        outputs = function(*arrays)
        outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
        results = [(tuple(y.shape), name_of(y.dtype)) for y in outputs]
        if oracle is not None:
            options["eager"] = function
        super().__init__(args, results, "", oracle or function, whole=True, **options)

    @cached_property
    def graph(self) -> torch.fx.GraphModule:
        """Its graph of aten operations."""
        if self.call is not None:
            return self.call.graph(self.samples(SIZE, 0))
        if self.exported:
            return export(self.function, self.samples(SIZE, 0)).graph_module
        return traced(self.function, self.samples(SIZE, 0))

    def text(self) -> str:
        if self.exported:
            return import_function(self.function, self.samples(SIZE, 0))
        return import_graph(self.graph)

    def widened(self, arrays: Sequence[Tensor]) -> list[Tensor]:
        """Integers too become f64 where all results are floats, unless they count or choose."""
        if not all(d in FLOATS for _, d in self.results):
            return list(arrays)
        wide = []
        for x, a in zip(arrays, self.args, strict=True):
            wide.append(x if a.index else x.double())
        return wide

    def chained(self) -> TorchCase | None:
        variables = self.variables()
        smooth = [d in FLOATS for _, d in self.results]
        if not variables or not any(smooth):
            return None

        def around(inner: Function) -> Function:
            def function(*arrays: Tensor) -> list[Tensor]:
                given = [x * 0.75 if i in variables else x for i, x in enumerate(arrays)]
                outputs = inner(*given)
                outputs = [outputs] if isinstance(outputs, Tensor) else outputs
                return [
                    torch.nn.functional.silu(y) + y if s else y
                    for y, s in zip(outputs, smooth, strict=True)
                ]

            return function

        return TorchCase(
            self.args,
            around(self.function),
            around(self.oracle),
            exported=self.exported,
            attributes=self.attributes,
            frozen=self.frozen,
            units=self.units * 2,
            roundings=self.roundings + 3,
            cancels=self.cancels,
            inexact=self.inexact,
        )


INTS = tuple(INTEGERS)
ALL = (*FLOATS, *INTS, "i1")
NUMBERS = (*FLOATS, *INTS)


def torch_op(
    name: str,
    function: Function,
    *operands: Of,
    variant: str = "",
    dtypes: Sequence[str] = FLOATS,
    special: bool = True,
    frozen: Sequence[int] = (),
    units: float = UNITS * 2,
    cancels: bool = False,
    roundings: int = 0,
    inexact: float = 0.0,
    excluded: dict[str, str] | None = None,
    min_rank: int = 0,
    max_rank: int = 5,
    empty_columns: bool = True,
    oracle: Function | None = None,
    exported: bool = False,
    call: Callable[[Shape], Call] | None = None,
    empty: bool = True,
) -> None:
    """Puts a function into the table. `oracle` is another formula of the same, where torch's own
    is inaccurate. `exported` keeps operations that tracing would take apart."""
    given = operands or (Of(),)

    def build(shape: Shape, dtype: str) -> TorchCase:
        args = [o.arg(shape, dtype) for o in given]
        made = call(extents(shape, SIZE)) if call else None
        return TorchCase(
            args,
            made or function,
            oracle,
            exported=exported,
            call=made,
            attributes={i: "" for i, o in enumerate(given) if o.constant},
            frozen=list(frozen),
            units=units,
            cancels=cancels,
            roundings=roundings,
            inexact=inexact,
        )

    made_variant = Variant(
        build,
        dtypes,
        min_rank=min_rank,
        max_rank=max_rank,
        empty_columns=empty_columns,
        empty=empty,
        excluded=dict(excluded or {}),
        special=special,
    )
    add(f"aten.{name}", variant, made_variant)


def direct(name: str, *args: object, variant: str = "", **options: object) -> None:
    """Puts a call of the overload of that name into the table. Options that torch_op has are its
    own, others are the call's."""
    packet, _, overload = name.partition(".")
    target = getattr(getattr(torch.ops.aten, packet), overload or "default")
    named = {a.name for a in target._schema.arguments}
    kwargs = {k: options.pop(k) for k in list(options) if k in named and k not in RESERVED}
    operands = Call(target, args, kwargs).operands()

    def call(shape: Shape) -> Call:
        return Call(
            target, tree_map(lambda a: a.of(shape) if isinstance(a, From) else a, args), kwargs
        )

    variant = f"direct {variant}".strip()
    torch_op(name, target, *operands, variant=variant, call=call, **options)


# Options of torch_op that arguments of operations are called too.
RESERVED = {"oracle", "dtypes", "units"}


def last(extent: int) -> Callable[[Shape], Shape]:
    """The shape with another last extent."""
    return lambda s: (*s[:-1], extent)
