# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of normalizations and reductions."""

import math

import torch
from torch import Tensor

from conformance.case import Arg, Case, Shape, stat, tensor, variant
from conformance.runner import FLOATS

# Large, so that a row of one element has a gradient.
EPS = 0.01


def layer_norm(
    x: Tensor, gamma: Tensor | None, beta: Tensor | None, centered: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Result, mean and reciprocal standard deviation."""
    mean = x.mean(-1, keepdim=True)
    rstd = ((x - mean).square().mean(-1, keepdim=True) + EPS).rsqrt()
    y = (x - mean) * rstd
    if gamma is not None:
        y = y * (gamma + 1 if centered else gamma)
    return (y if beta is None else y + beta), mean, rstd


def rms_norm(x: Tensor, gamma: Tensor | None, centered: bool) -> tuple[Tensor, Tensor]:
    """Result and reciprocal root mean square."""
    rstd = (x.square().mean(-1, keepdim=True) + EPS).rsqrt()
    y = x * rstd
    return (y if gamma is None else y * (gamma + 1 if centered else gamma)), rstd


def norm(op: str, gamma: bool, beta: bool, centered: bool) -> None:
    """A norm with some of its options."""
    name = "_".join(w for w, on in (("gamma", gamma), ("beta", beta), ("centered", centered)) if on)

    @variant(f"fuseops.{op}", name, min_rank=1, empty_columns=False)
    def build(shape: Shape, dtype: str) -> Case:
        n, stats = shape[-1], ((*shape[:-1], 1), stat(dtype))
        args = [Arg(shape, dtype, offset=0.5)]
        text = f"fuseops.{op} %a0"
        if gamma:
            args.append(Arg((n,), dtype, 0.1, 0.0 if centered else 1.0))
            text += f" gamma(%a{len(args) - 1})"
        if beta:
            args.append(Arg((n,), dtype, 0.1))
            text += f" beta(%a{len(args) - 1})"
        text += f" eps({EPS}){' zero_centered_gamma' if centered else ''}"
        results = [(shape, dtype), stats, *([stats] if op == "layer_norm" else [])]
        operands = ", ".join(tensor(a.shape, a.dtype) for a in args)
        names = ", ".join(f"%r{i}" for i in range(len(results)))
        types = ", ".join(tensor(*r) for r in results)
        body = f"{names} = {text} : ({operands}) -> ({types})"

        def oracle(x: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
            g = rest[0] if gamma else None
            if op == "layer_norm":
                return layer_norm(x, g, rest[-1] if beta else None, centered)
            return rms_norm(x, g, centered)

        frozen = list(range(1, len(results)))
        return Case(args, results, body, oracle, frozen=frozen, cancels=True, units=12.0)


norm("layer_norm", False, False, False)
norm("layer_norm", True, False, False)
norm("layer_norm", False, True, False)
norm("layer_norm", True, True, False)
norm("layer_norm", True, True, True)
norm("rms_norm", False, False, False)
norm("rms_norm", True, False, False)
norm("rms_norm", True, False, True)


def norm_grad(op: str, gamma: bool, centered: bool) -> None:
    """The gradient operation, with statistics that fit the input."""

    @variant(
        f"fuseops.{op}_grad",
        "gamma" * gamma + "_centered" * centered,
        min_rank=1,
        empty_columns=False,
        excluded={"chain": "it has no gradient of its own"},
    )
    def build(shape: Shape, dtype: str) -> Case:
        n, stats = shape[-1], ((*shape[:-1], 1), stat(dtype))
        layer = op == "layer_norm"
        args = [Arg(shape, dtype), Arg(shape, dtype)]
        if layer:
            args.append(Arg(*stats, scale=0.3))
        args.append(Arg(*stats, range=(0.5, 2.0)))
        given = ", ".join(f"%a{i}" for i in range(len(args)))
        results: list[tuple[Shape, str]] = [(shape, dtype)]
        if gamma:
            given += f" gamma(%a{len(args)})"
            args.append(Arg((n,), dtype, 0.1, 0.0 if centered else 1.0))
            results.append(((n,), dtype))
        operands = ", ".join(tensor(a.shape, a.dtype) for a in args)
        names = ", ".join(f"%r{i}" for i in range(len(results)))
        types = ", ".join(tensor(*r) for r in results)
        flag = " zero_centered_gamma" if centered else ""
        body = f"{names} = fuseops.{op}_grad {given}{flag} : ({operands}) -> ({types})"

        def oracle(dy: Tensor, x: Tensor, *rest: Tensor) -> list[Tensor]:
            mean, rstd = (rest[0], rest[1]) if layer else (0.0, rest[0])
            weight = rest[-1] if gamma else torch.ones((), dtype=x.dtype)
            g = dy * (weight + 1 if centered else weight)
            h = (x - mean) * rstd
            dx = g - h * (g * h).mean(-1, keepdim=True)
            if layer:
                dx = dx - g.mean(-1, keepdim=True)
            found = [dx * rstd]
            if gamma:
                found.append((dy * h).reshape(-1, n).sum(0))
            return found

        frozen = list(range(len(results)))
        return Case(args, results, body, oracle, frozen=frozen, cancels=True)


norm_grad("layer_norm", False, False)
norm_grad("layer_norm", True, False)
norm_grad("layer_norm", True, True)
norm_grad("rms_norm", False, False)
norm_grad("rms_norm", True, False)
norm_grad("rms_norm", True, True)


def reduction(op: str, kind: str, integers: bool) -> None:
    """Of all rows or of all columns."""
    dtypes = FLOATS if not integers else (*FLOATS, "i64", "i32", "i8", "ui8")

    # There's no maximum of nothing, unless only a run knows that there is nothing.
    @variant(f"fuseops.{op}", kind, dtypes=dtypes, min_rank=1, empty=kind == "sum")
    def build(shape: Shape, dtype: str) -> Case:
        rows = op == "reduce_rows"
        result: Shape = shape[-1:] if rows else (*shape[:-1], 1)
        to = stat(dtype) if dtype in FLOATS else "i64" if kind == "sum" else dtype
        body = f"%r0 = fuseops.{op} {kind} %a0 : {tensor(shape, dtype)} -> {tensor(result, to)}"

        def oracle(x: Tensor) -> Tensor:
            keep = not rows
            x = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) if rows else x
            dim = 0 if rows else -1
            if kind == "sum":
                return x.sum(dim, keepdim=keep)
            if x.shape[dim] == 0:
                extent = list(x.shape)
                extent[dim] = 1
                low = -torch.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
                high = torch.inf if x.is_floating_point() else torch.iinfo(x.dtype).max
                y = torch.full(extent, low if kind == "max" else high, dtype=x.dtype)
                # It depends on the argument, so that there is a gradient.
                y = (y + x.sum(dim, keepdim=True)).to(x.dtype)
                return y if keep else y.squeeze(dim)
            function = torch.amax if kind == "max" else torch.amin
            return function(x, dim, keepdim=keep)

        return Case([Arg(shape, dtype)], [(result, to)], body, oracle)


for _op in ("reduce_rows", "reduce_columns"):
    for _kind in ("sum", "max", "min"):
        reduction(_op, _kind, True)


@variant("fuseops.reduce_rows", "to_scalar", min_rank=1)
def reduce_to_scalar(shape: Shape, dtype: str) -> Case:
    s, column = stat(dtype), (*shape[:-1], 1)
    if dtype not in FLOATS:
        s = "i64"
    body = (
        f"%t = fuseops.reduce_columns sum %a0 : {tensor(shape, dtype)} -> {tensor(column, s)}\n"
        f"%r0 = fuseops.reduce_rows sum %t : {tensor(column, s)} -> tensor<{s}>"
    )
    return Case([Arg(shape, dtype)], [((), s)], body, lambda x: x.sum())
