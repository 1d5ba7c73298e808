# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the contractions."""

import itertools
import math
from dataclasses import replace

import torch
from torch import Tensor

from conformance.case import Arg, Case, Shape, tensor, variant

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


def by_group(sizes: Tensor, count: int) -> list[slice]:
    """The rows of each group."""
    ends = [0, *sizes.cumsum(0).tolist()]
    return [slice(min(a, count), min(b, count)) for a, b in itertools.pairwise(ends)]


# Groups of which one is empty, and rows past the last group.
SIZES = Arg((3,), "i64", range=(0, 3), index=True)


def grouped_matmul(tl: bool, tr: bool) -> None:
    """Each group of rows with a matrix of its own."""
    name = ("t" if tl else "n") + ("t" if tr else "n")

    @variant("fuseops.grouped_matmul", name, min_rank=2, empty_columns=False, excluded=NAN)
    def build(shape: Shape, dtype: str) -> Case:
        lead, n = shape[:-1], shape[-1]
        lhs = (*lead, K)
        rhs = (*lead, n) if tl else (3, n, K) if tr else (3, K, n)
        result: Shape = (3, K, n) if tl else shape
        args = [Arg(lhs, dtype), Arg(rhs, dtype, 0.2), replace(SIZES)]
        flags = " transpose_lhs" * tl + " transpose_rhs" * tr
        types = f"{tensor(lhs, dtype)}, {tensor(rhs, dtype)}, tensor<3xi64>"
        body = f"%r0 = fuseops.grouped_matmul %a0, %a1 sizes(%a2){flags} : {types} -> "
        body += tensor(result, dtype)

        def oracle(a: Tensor, b: Tensor, sizes: Tensor) -> Tensor:
            left = rows(a)
            groups = by_group(sizes, left.shape[0])
            if tl:
                right = rows(b)
                return torch.stack([left[g].T @ right[g] for g in groups])
            parts = [left[g] @ (b[i].T if tr else b[i]) for i, g in enumerate(groups)]
            rest = left.new_zeros((left.shape[0] - groups[-1].stop, n))
            return torch.cat([*parts, rest]).reshape(*a.shape[:-1], n)

        return Case(args, [(result, dtype)], body, oracle, cancels=True)


grouped_matmul(False, False)
grouped_matmul(False, True)
grouped_matmul(True, False)


def grouped_linear(biased: bool, scaled: bool) -> None:
    """TransformerEngine's GroupedLinear."""
    name = "bias" * biased + " scaled" * scaled

    @variant("fuseops.grouped_linear", name, min_rank=2, empty_columns=False, excluded=NAN)
    def build(shape: Shape, dtype: str) -> Case:
        lead, n = shape[:-1], shape[-1]
        args = [Arg((*lead, K), dtype), Arg((3, n, K), dtype, K**-0.5), replace(SIZES)]
        text = "fuseops.grouped_linear %a0, %a1 sizes(%a2)"
        if biased:
            args.append(Arg((3, n), dtype))
            text += " bias(%a3)"
        if scaled:
            args.append(Arg((*lead, 1), dtype))
            text += " bias_scale(%a4)"
        operands = ", ".join(tensor(a.shape, a.dtype) for a in args)
        body = f"%r0 = {text} : ({operands}) -> {tensor(shape, dtype)}"

        def oracle(x: Tensor, w: Tensor, sizes: Tensor, *rest: Tensor) -> Tensor:
            flat = rows(x)
            groups = by_group(sizes, flat.shape[0])
            parts = []
            for i, g in enumerate(groups):
                y = flat[g] @ w[i].T
                if biased:
                    bias = rest[0][i].expand(y.shape)
                    y = y + (bias * rows(rest[1])[g] if scaled else bias)
                parts.append(y)
            zeros = flat.new_zeros((flat.shape[0] - groups[-1].stop, n))
            return torch.cat([*parts, zeros]).reshape(*x.shape[:-1], n)

        return Case(args, [(shape, dtype)], body, oracle, cancels=True, roundings=2)


grouped_linear(False, False)
grouped_linear(True, False)
grouped_linear(True, True)
