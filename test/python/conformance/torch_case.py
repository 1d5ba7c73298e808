# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases whose program is a torch function, imported as the torch dialect: the same function, run
eagerly in f64, is the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from case import Arg, Case, Shape, Variant, add, extents
from runner import FLOATS, INTEGERS, name_of
from tolerance import UNITS
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from fuseops.torch.importer import import_graph

Function = Callable[..., Tensor | Sequence[Tensor]]
# What `?` is here: programs from torch are traced for one size.
SIZE = 11


def traced(function: Function, arrays: Sequence[Tensor]) -> torch.fx.GraphModule:
    """The graph of aten operations of a call."""
    with torch.no_grad():
        # make_fx counts the parameters of a function, those with defaults too.
        return make_fx(lambda *x: function(*x), tracing_mode="fake", _allow_non_fake_inputs=True)(
            *arrays
        )


def operations(graph: torch.fx.GraphModule) -> set[str]:
    """The names of its operations, such as aten.add.Tensor."""
    return {
        str(node.target)
        for node in graph.graph.nodes
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
    }


class TorchCase(Case):
    """A case of a function."""

    def __init__(self, args: list[Arg], function: Function, **options: object) -> None:
        self.function = function
        arrays = [a.sample(torch.Generator().manual_seed(0), SIZE) for a in args]
        outputs = function(*arrays)
        outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
        results = [(tuple(y.shape), name_of(y.dtype)) for y in outputs]
        super().__init__(args, results, "", function, **options)

    @cached_property
    def graph(self) -> torch.fx.GraphModule:
        """Its graph of aten operations."""
        return traced(self.function, self.samples(SIZE, 0))

    def text(self) -> str:
        return import_graph(self.graph)

    def widened(self, arrays: Sequence[Tensor]) -> list[Tensor]:
        """Integers too become f64 where all results are floats, unless they count or choose."""
        if not all(d in FLOATS for _, d in self.results):
            return list(arrays)
        wide = []
        for x, a in zip(arrays, self.args, strict=True):
            stays = a.index or x.dtype == torch.bool
            wide.append(x if stays else x.double())
        return wide

    def chained(self) -> TorchCase | None:
        floats = [a.dtype in FLOATS for a in self.args]
        smooth = [d in FLOATS for _, d in self.results]
        if not any(floats) or not any(smooth):
            return None

        def function(*arrays: Tensor) -> list[Tensor]:
            given = [x * 0.75 if f else x for x, f in zip(arrays, floats, strict=True)]
            return [
                torch.nn.functional.silu(y) + y if s else y
                for y, s in zip(self.evaluate(given), smooth, strict=True)
            ]

        return TorchCase(
            self.args,
            function,
            frozen=self.frozen,
            units=self.units * 2,
            roundings=self.roundings + 3,
            cancels=self.cancels,
        )


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

    def arg(self, shape: Shape, dtype: str) -> Arg:
        """For a shape and dtype of the grid."""
        shape = extents(self.shape(shape), SIZE)
        kind = self.dtype or dtype
        return Arg(shape, kind, self.scale, self.offset, self.range, self.index, self.away)


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
    excluded: dict[str, str] | None = None,
    min_rank: int = 0,
    max_rank: int = 5,
    empty_columns: bool = True,
) -> None:
    """Puts a function into the table."""
    given = operands or (Of(),)

    def build(shape: Shape, dtype: str) -> TorchCase:
        args = [o.arg(shape, dtype) for o in given]
        return TorchCase(
            args,
            function,
            frozen=list(frozen),
            units=units,
            cancels=cancels,
            roundings=roundings,
        )

    made = Variant(build, dtypes, min_rank, max_rank, empty_columns, dict(excluded or {}), special)
    add(f"aten.{name}", variant, made)


def last(extent: int) -> Callable[[Shape], Shape]:
    """The shape with another last extent."""
    return lambda s: (*s[:-1], extent)
