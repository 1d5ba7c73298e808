# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the layout operations: exact in every element type."""

import torch
from torch import Tensor

from conformance.case import Arg, Case, Shape, extents, tensor, variant
from conformance.runner import FLOATS, INTEGERS

ALL = (*FLOATS, *INTEGERS, "i1", "f8E4M3FN", "f8E5M2")


def one(shape: Shape, result: Shape, dtype: str, text: str, oracle: object) -> Case:
    """One operation of one operand."""
    types = f"{tensor(shape, dtype)} -> {tensor(result, dtype)}"
    body = f"%r0 = fuseops.{text} : {types}"
    return Case([Arg(shape, dtype)], [(result, dtype)], body, oracle)


@variant("fuseops.slice", "columns", min_rank=1, dtypes=ALL)
def slice_columns(shape: Shape, dtype: str) -> Case:
    wide, last, n = (*shape[:-1], shape[-1] + 5), len(shape) - 1, shape[-1]
    text = f"slice %a0 dim({last}) offset(3)"
    return one(wide, shape, dtype, text, lambda x: x[..., 3 : 3 + n])


@variant("fuseops.slice", "step", min_rank=1, dtypes=ALL)
def slice_step(shape: Shape, dtype: str) -> Case:
    wide, last, n = (*shape[:-1], 2 * shape[-1] + 1), len(shape) - 1, shape[-1]
    text = f"slice %a0 dim({last}) offset(1) step(2)"
    return one(wide, shape, dtype, text, lambda x: x[..., 1 : 1 + 2 * n : 2])


@variant("fuseops.slice", "reversed", min_rank=1, dtypes=ALL)
def slice_reversed(shape: Shape, dtype: str) -> Case:
    last, n = len(shape) - 1, shape[-1]
    text = f"slice %a0 dim({last}) offset({max(n - 1, 0)}) step(-1)"
    return one(shape, shape, dtype, text, lambda x: x.flip(-1))


@variant("fuseops.slice", "leading", dtypes=ALL)
def slice_leading(shape: Shape, dtype: str) -> Case:
    """Of the first dimension, which is put before the shape."""
    result = (2, *shape)
    text = "slice %a0 dim(0) offset(1)"
    return one((4, *shape), result, dtype, text, lambda x: x[1:3])


@variant("fuseops.concat", "columns", min_rank=1, dtypes=ALL)
def concat_columns(shape: Shape, dtype: str) -> Case:
    parts = [(*shape[:-1], k) for k in (shape[-1], 3, 2 * shape[-1])]
    result, last = (*shape[:-1], 3 * shape[-1] + 3), len(shape) - 1
    operands = ", ".join(tensor(p, dtype) for p in parts)
    body = f"%r0 = fuseops.concat %a0, %a1, %a2 dim({last}) : ({operands}) -> "
    args = [Arg(p, dtype) for p in parts]
    return Case(args, [(result, dtype)], body + tensor(result, dtype), lambda *x: torch.cat(x, -1))


@variant("fuseops.concat", "leading", dtypes=ALL)
def concat_leading(shape: Shape, dtype: str) -> Case:
    parts: list[Shape] = [(k, *shape) for k in (1, 3)]
    result = (4, *shape)
    operands = ", ".join(tensor(p, dtype) for p in parts)
    body = f"%r0 = fuseops.concat %a0, %a1 dim(0) : ({operands}) -> {tensor(result, dtype)}"
    return Case([Arg(p, dtype) for p in parts], [(result, dtype)], body, lambda *x: torch.cat(x))


@variant("fuseops.permute", "transpose", min_rank=2, dtypes=ALL)
def permute_transpose(shape: Shape, dtype: str) -> Case:
    # The last extent of a result may not be symbolic.
    shape = extents(shape, 11)
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    return one(
        shape,
        tuple(shape[i] for i in order),
        dtype,
        f"permute %a0 order{order}",
        lambda x: x.permute(order),
    )


@variant("fuseops.permute", "outer", min_rank=1, dtypes=ALL)
def permute_outer(shape: Shape, dtype: str) -> Case:
    """The first two of three dimensions or more: rows stay rows."""
    shape = (3, *shape)
    order = [1, 0, *range(2, len(shape))]
    result = tuple(shape[i] for i in order)
    return one(shape, result, dtype, f"permute %a0 order{order}", lambda x: x.permute(order))


@variant("fuseops.permute", "reversed", dtypes=ALL)
def permute_reversed(shape: Shape, dtype: str) -> Case:
    # The last extent of a result may not be symbolic.
    shape = extents(shape, 11)
    order = list(reversed(range(len(shape))))
    return one(
        shape,
        tuple(shape[i] for i in order),
        dtype,
        f"permute %a0 order{order}",
        lambda x: x.permute(order),
    )


@variant("fuseops.expand", "rows", dtypes=ALL)
def expand_rows(shape: Shape, dtype: str) -> Case:
    return one(shape, (3, *shape), dtype, "expand %a0", lambda x: x.expand(3, *x.shape))


@variant("fuseops.expand", "column", dtypes=ALL)
def expand_column(shape: Shape, dtype: str) -> Case:
    if not shape:
        return one(shape, (5,), dtype, "expand %a0", lambda x: x.expand(5))
    n = shape[-1]
    column = (*shape[:-1], 1)
    return one(column, shape, dtype, "expand %a0", lambda x: x.expand(*x.shape[:-1], n))


@variant("fuseops.reshape", "", dtypes=ALL)
def reshape(shape: Shape, dtype: str) -> Case:
    n = shape[-1] if shape else 1
    split = (*shape[:-1], n // 2, 2) if n % 2 == 0 and shape else (*shape[:-1], 1, n)
    a, b = tensor(shape, dtype), tensor(split, dtype)
    body = f"%r0 = fuseops.reshape %a0 : {a} -> {b}"

    def oracle(x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:-1], *split[-2:])

    return Case([Arg(shape, dtype)], [(split, dtype)], body, oracle)
