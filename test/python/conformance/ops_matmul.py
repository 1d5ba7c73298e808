# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the contractions."""

import math

import torch
from case import Arg, Case, Shape, tensor, variant
from torch import Tensor

K = 24


def rows(x: Tensor) -> Tensor:
    """The matrix of a tensor's rows."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


NAN = {"special": "a product sums NaN over rows and columns"}


def linear(biased: bool) -> None:
    """With and without a bias."""

    @variant(
        "fuseops.linear",
        "bias" if biased else "",
        min_rank=1,
        empty_columns=False,
        excluded=NAN,
    )
    def build(shape: Shape, dtype: str) -> Case:
        n = shape[-1]
        args = [Arg((*shape[:-1], K), dtype), Arg((n, K), dtype, K**-0.5)]
        text = "fuseops.linear %a0, %a1"
        if biased:
            args.append(Arg((n,), dtype))
            text += " bias(%a2)"
        operands = ", ".join(tensor(a.shape, a.dtype) for a in args)
        body = f"%r0 = {text} : ({operands}) -> {tensor(shape, dtype)}"

        def oracle(x: Tensor, w: Tensor, *bias: Tensor) -> Tensor:
            y = torch.einsum("...k,nk->...n", x, w)
            return y + bias[0] if bias else y

        return Case(args, [(shape, dtype)], body, oracle, cancels=True)


linear(False)
linear(True)


def matmul(tl: bool, tr: bool) -> None:
    """Each operand transposed or not."""
    name = ("t" if tl else "n") + ("t" if tr else "n")

    @variant("fuseops.matmul", name, min_rank=2, empty_columns=False, excluded=NAN)
    def build(shape: Shape, dtype: str) -> Case:
        lead, n = shape[:-1], shape[-1]
        if tl:
            # The rows are contracted: both operands have them. The columns of op(rhs) may not be
            # symbolic.
            lhs, rhs = ((7, K), (n, 7)) if tr else ((*lead, K), (*lead, n))
            result: Shape = (K, n)
        else:
            lhs, rhs, result = (*lead, K), (n, K) if tr else (K, n), shape
        args = [Arg(lhs, dtype), Arg(rhs, dtype, 0.2)]
        flags = " transpose_lhs" * tl + " transpose_rhs" * tr
        types = f"{tensor(lhs, dtype)}, {tensor(rhs, dtype)} -> {tensor(result, dtype)}"
        body = f"%r0 = fuseops.matmul %a0, %a1{flags} : {types}"

        def oracle(a: Tensor, b: Tensor) -> Tensor:
            left, right = rows(a), rows(b)
            y = (left.T if tl else left) @ (right.T if tr else right)
            return y if tl else y.reshape(*a.shape[:-1], n)

        return Case(args, [(result, dtype)], body, oracle, cancels=True)


for _tl in (False, True):
    for _tr in (False, True):
        matmul(_tl, _tr)
