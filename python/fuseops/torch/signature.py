# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an operator of `fuseops.torch.operators` takes and gives: kinds of tensors,
their types in a program, and their sizes in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from fuseops.errors import FuseOpsError
from fuseops.torch.builder import FLOATS, INTEGERS, Type, expect

_T = TypeVar("_T")


@dataclass(frozen=True)
class Tensor:
    """An argument or a result. `rows` are `[..., N]`, `statistic` `[..., 1]`, `values`
    `[...]`, all with the same leading sizes, and `fixed` has none of them."""

    name: str
    kind: str = "rows"
    is_optional: bool = False
    is_differentiable: bool = True


def choose(values: Sequence[_T], mask: Sequence[bool]) -> list[_T]:
    """The values at which the mask is set."""
    return [value for value, is_set in zip(values, mask, strict=True) if is_set]


@dataclass(frozen=True)
class Signature:
    """Arguments, results, and names of what backward gets; `rank` is the number of
    trailing dimensions of `rows`, the others are the leading ones."""

    name: str
    arguments: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    saved: tuple[str, ...]
    rank: int

    def entry(self, name: str) -> Tensor:
        """The argument or result of that name."""
        return next(entry for entry in (*self.arguments, *self.results) if entry.name == name)

    @property
    def given(self) -> list[Tensor]:
        """The results that may have a gradient."""
        return [entry for entry in self.results if entry.is_differentiable]

    @property
    def wanted(self) -> list[Tensor]:
        """The arguments that may have a gradient."""
        return [entry for entry in self.arguments if entry.is_differentiable]

    def type_of(self, entry: Tensor, tensor: torch.Tensor) -> Type:
        """The type in a program."""
        if entry.kind == "values":
            return Type((None, 1), tensor.dtype)
        if entry.kind == "fixed":
            return Type(tuple(tensor.shape), tensor.dtype)
        return Type((None, *tensor.shape[tensor.dim() - self.rank :]), tensor.dtype)

    def leading_of(self, entry: Tensor, tensor: torch.Tensor) -> torch.Size:
        """The leading sizes of what isn't fixed."""
        is_values = entry.kind == "values"
        return tensor.shape if is_values else tensor.shape[: tensor.dim() - self.rank]

    def sizes(
        self, entry: Tensor, leading: Sequence[int], shape: Sequence[int | None]
    ) -> tuple[int, ...]:
        """The sizes in PyTorch, from those in a program."""
        if entry.kind == "fixed":
            return tuple(shape)
        return tuple(leading) if entry.kind == "values" else (*leading, *shape[1:])

    def check(self, tensors: Sequence[torch.Tensor | None]) -> torch.Size:
        """The leading sizes; raises FuseOpsError where arguments don't go together."""
        device, leading = tensors[0].device, None
        for entry, tensor in zip(self.arguments, tensors, strict=True):
            if tensor is None:
                continue
            name, shape = entry.name, tuple(tensor.shape)
            expect(tensor.device == device, name, f"be on {device}", tensor.device)
            dtypes = FLOATS if entry.is_differentiable else INTEGERS
            names = ", ".join(dtypes.values())
            expect(tensor.dtype in dtypes, name, f"have one of {names}", tensor.dtype)
            if entry.kind == "fixed":
                continue
            rank = 0 if entry.kind == "values" else self.rank
            expect(len(shape) >= rank, name, f"have {rank} or more dimensions", shape)
            found = self.leading_of(entry, tensor)
            leading = found if leading is None else leading
            expect(found == leading, name, f"have the leading sizes {tuple(leading)}", shape)
        return leading

    def forward_types(self, tensors: Sequence[torch.Tensor | None]) -> dict[str, Type]:
        """The types of the arguments that are there, by name."""
        return {
            entry.name: self.type_of(entry, tensor)
            for entry, tensor in zip(self.arguments, tensors, strict=True)
            if tensor is not None
        }

    def backward_types(
        self,
        gradients: Sequence[torch.Tensor | None],
        saved: Mapping[str, torch.Tensor | None],
    ) -> tuple[dict[str, Type], torch.Size]:
        """The same from what backward gets, of arguments that aren't saved, too: these
        are rows with the type of a result's gradient. And the leading sizes."""
        first = self.arguments[0]
        found = [(first, saved.get(first.name)), *zip(self.given, gradients, strict=True)]
        rows = [(e, t) for e, t in found if t is not None and e.kind == "rows"]
        if not rows:
            raise FuseOpsError(f"expected `{self.name}_backward` to get rows")
        like, types = self.type_of(*rows[0]), {}
        for entry in self.arguments:
            if (tensor := saved.get(entry.name)) is not None:
                types[entry.name] = self.type_of(entry, tensor)
            elif not entry.is_optional:
                types[entry.name] = like
        return types, self.leading_of(*rows[0])
