# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of softmax, cross-entropy, rotary embedding and L2 normalization."""

import torch
from torch import Tensor

from conformance.case import Arg, Case, Shape, stat, tensor, variant

CLASSES = {"min_rank": 1, "empty_columns": False}


def softmax(op: str) -> None:
    """softmax or log_softmax, and its gradient operation."""
    function = torch.softmax if op == "softmax" else torch.log_softmax

    @variant(f"fuseops.{op}", **CLASSES)
    def build(shape: Shape, dtype: str) -> Case:
        t = tensor(shape, dtype)
        body = f"%r0 = fuseops.{op} %a0 : {t} -> {t}"
        args = [Arg(shape, dtype, 2.0)]
        # Its gradient starts from the rounded result, as torch's does.
        return Case(
            args,
            [(shape, dtype)],
            body,
            lambda x: function(x, -1),
            cancels=True,
            roundings=2,
            units=12.0,
        )

    @variant(f"fuseops.{op}", "wide", **CLASSES)
    def wide(shape: Shape, dtype: str) -> Case:
        """With a result in the type of the computation, and far from 0."""
        to = stat(dtype)
        body = f"%r0 = fuseops.{op} %a0 : {tensor(shape, dtype)} -> {tensor(shape, to)}"
        args = [Arg(shape, dtype, 2.0, 50.0)]
        return Case(args, [(shape, to)], body, lambda x: function(x, -1), cancels=True)

    @variant(f"fuseops.{op}_grad", **CLASSES)
    def slope(shape: Shape, dtype: str) -> Case:
        t = tensor(shape, dtype)
        body = f"%r0 = fuseops.{op}_grad %a0, %a1 : {t}, {t} -> {t}"

        def oracle(dy: Tensor, y: Tensor) -> Tensor:
            if op == "softmax":
                return y * (dy - (dy * y).sum(-1, keepdim=True))
            return dy - y.exp() * dy.sum(-1, keepdim=True)

        bounds = (0.0, 0.2) if op == "softmax" else (-4.0, -0.5)
        args = [Arg(shape, dtype), Arg(shape, dtype, range=bounds)]
        return Case(args, [(shape, dtype)], body, oracle, cancels=True, frozen=[0])


softmax("softmax")
softmax("log_softmax")


def cross_entropy(smoothing: float, ignored: int, integer: str) -> None:
    """A row's loss and the logarithm of its sum of exponentials."""

    @variant(
        "fuseops.cross_entropy",
        f"smoothing {smoothing:g} ignoring {ignored} {integer}",
        **CLASSES,
        excluded={"special": "a NaN is the whole row's"},
    )
    def build(shape: Shape, dtype: str) -> Case:
        n, column = shape[-1], (*shape[:-1], 1)
        s, c = tensor(column, stat(dtype)), tensor(column, integer)
        body = (
            f"%r0, %r1 = fuseops.cross_entropy %a0, %a1 ignore_index({ignored}) "
            f"label_smoothing({smoothing}) : {tensor(shape, dtype)}, {c} -> ({s}, {s})"
        )

        def oracle(x: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
            sums = torch.logsumexp(x, -1, keepdim=True)
            picked = x.gather(-1, target.long().clamp(0, n - 1))
            loss = (1 - smoothing) * (sums - picked)
            loss = loss + smoothing * (sums - x.mean(-1, keepdim=True))
            return torch.where(target == ignored, 0.0, loss), sums

        args = [
            Arg(shape, dtype, 2.0),
            Arg(column, integer, range=(0, n - 1), index=True),
        ]
        results = [(column, stat(dtype))] * 2
        return Case(args, results, body, oracle, cancels=True)


cross_entropy(0.0, -100, "i64")
cross_entropy(0.1, 2, "i32")


def rotary(pairs: str, conjugate: bool, broadcast: bool) -> None:
    """Pairs of elements, turned."""
    name = " ".join([pairs, *["conjugate"] * conjugate, *["broadcast"] * broadcast])

    @variant("fuseops.rotary_embedding", name, **CLASSES)
    def build(shape: Shape, dtype: str) -> Case:
        wide = (*shape[:-1], 2 * shape[-1])
        angles = shape[-1:] if broadcast else shape
        body = (
            f"%r0 = fuseops.rotary_embedding %a0, %a1, %a2 pairs({pairs})"
            f"{' conjugate' * conjugate} : {tensor(wide, dtype)}, "
            f"{tensor(angles, stat(dtype))}, {tensor(angles, stat(dtype))}"
        )

        def oracle(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
            half = x.shape[-1] // 2
            sin = -sin if conjugate else sin
            if pairs == "half":
                a, b = x[..., :half], x[..., half:]
                return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)

        args = [
            Arg(wide, dtype),
            Arg(angles, stat(dtype), range=(-1.0, 1.0)),
            Arg(angles, stat(dtype), range=(-1.0, 1.0)),
        ]
        return Case(args, [(wide, dtype)], body, oracle)


rotary("half", False, False)
rotary("half", False, True)
rotary("interleaved", False, False)
rotary("interleaved", True, True)


@variant("fuseops.l2_norm", **CLASSES)
def l2_norm(shape: Shape, dtype: str) -> Case:
    column = tensor((*shape[:-1], 1), stat(dtype))
    t = tensor(shape, dtype)
    body = f"%r0, %r1 = fuseops.l2_norm %a0 eps(0.01) : {t} -> ({t}, {column})"

    def oracle(x: Tensor) -> tuple[Tensor, Tensor]:
        r = (x.square().sum(-1, keepdim=True) + 0.01).rsqrt()
        return x * r, r

    results = [(shape, dtype), ((*shape[:-1], 1), stat(dtype))]
    return Case([Arg(shape, dtype)], results, body, oracle, cancels=True)
