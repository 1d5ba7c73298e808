# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbolic sizes: their bounds, and sizes as affine expressions of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import is_symbolic
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Mod, PythonMod
from torch.utils._sympy.value_ranges import ValueRanges

_MAX = 2**63 - 1


def _tensors_in(value: Any) -> Iterable[torch.Tensor]:
    """The tensors of what a node makes."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for element in value:
            yield from _tensors_in(element)


def _expression(size: Any) -> sympy.Expr:
    return size.node.expr if is_symbolic(size) else sympy.Integer(int(size))


def hint(size: Any) -> Any:
    """What a size was when it was traced."""
    return size.node.hint if is_symbolic(size) else size


def is_dynamic(tensor: torch.Tensor) -> bool:
    """Whether a size is symbolic."""
    return any(is_symbolic(size) for size in tensor.shape)


def find(values: Iterable[Any]) -> dict[sympy.Symbol, ValueRanges]:
    """The symbols in the sizes of the tensors among `values`, in order, and
    their bounds."""
    found: dict[sympy.Symbol, ValueRanges] = {}
    for value in values:
        for tensor in _tensors_in(value):
            for size in tensor.shape:
                if not is_symbolic(size):
                    continue
                ranges = size.node.shape_env.var_to_range
                for symbol in sorted(_expression(size).free_symbols, key=str):
                    found.setdefault(symbol, ranges.get(symbol, ValueRanges.unknown_int()))
    return found


def limits(bounds: ValueRanges) -> tuple[int, int]:
    """The least and the greatest value, in 64 bits."""
    lower = bounds.lower if bounds.lower.is_Integer else -_MAX - 1
    upper = bounds.upper if bounds.upper.is_Integer else _MAX
    return max(int(lower), -_MAX - 1), min(int(upper), _MAX)


def affine_map(tensor: torch.Tensor, symbols: Mapping[sympy.Symbol, Any]) -> str | None:
    """The sizes as a map of all `symbols`, None where they aren't affine."""
    names = {symbol: f"s{index}" for index, symbol in enumerate(symbols)}
    sizes = [_affine(_expression(size), names) for size in tensor.shape]
    if any(size is None for size in sizes):
        return None
    return f"affine_map<()[{', '.join(names.values())}] -> ({', '.join(sizes)})>"


def _affine(expression: sympy.Expr, names: Mapping[sympy.Symbol, str]) -> str | None:
    if expression.is_Integer:
        return str(expression)
    if expression.is_Symbol:
        return names.get(expression)
    operator = {
        sympy.Add: " + ",
        sympy.Mul: " * ",
        Mod: " mod ",
        PythonMod: " mod ",
        FloorDiv: " floordiv ",
        CleanDiv: " floordiv ",
    }.get(type(expression))
    # An affine expression has its constant last.
    arguments = expression.args
    if isinstance(expression, (sympy.Add, sympy.Mul)):
        arguments = sorted(arguments, key=lambda argument: (argument.is_number, str(argument)))
    parts = [_affine(argument, names) for argument in arguments]
    if operator is None or any(part is None for part in parts):
        return None
    nested = [f"({part})" if " " in part else part for part in parts]
    return operator.join(nested)
