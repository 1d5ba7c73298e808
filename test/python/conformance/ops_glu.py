# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the gated linear units, with their scale and their interleaved form."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from conformance.case import Arg, Case, Shape, stat, tensor, variant
from conformance.ops_pointwise import gelu, gelu_tanh, qgelu, srelu

Scalar = Callable[[Tensor], Tensor]


def identity(b: Tensor) -> Tensor:
    return b


def halves(x: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """The two halves of the last dimension; with a block, they alternate in blocks."""
    if not block:
        half = x.shape[-1] // 2
        return x[..., :half], x[..., half:]
    pairs = x.reshape(*x.shape[:-1], x.shape[-1] // (2 * block), 2, block)
    flat = (*x.shape[:-1], x.shape[-1] // 2)
    return pairs[..., 0, :].reshape(flat), pairs[..., 1, :].reshape(flat)


def glu(
    op: str,
    activation: Scalar,
    gate: Scalar = identity,
    *,
    parameters: str = "",
    name: str = "",
    units: float = 16.0,
    cancels: bool = False,
) -> None:
    """Every form of one unit."""
    forms = [("first", 0, False), ("last", 0, False), ("first", 2, False), ("last", 1, True)]
    forms += [("first", 0, True)]
    for form in forms:
        _form(
            op,
            (activation, gate),
            f"{parameters} activation({form[0]})",
            form,
            (name, units, cancels),
        )


def _form(
    op: str,
    functions: tuple[Scalar, Scalar],
    parameters: str,
    form: tuple[str, int, bool],
    names: tuple[str, float, bool],
) -> None:
    (activation, gate), (order, block, scaled), (name, units, cancels) = functions, form, names
    words = [name, order, f"interleave{block}" * bool(block), "scaled" * scaled]
    excluded = {
        "special gradient": "torch has no such operation, only products of inf and 0 in some order",
        "sign of zero": "torch's relu depends on its vector code",
    }

    @variant(f"fuseops.{op}", "_".join(w for w in words if w), min_rank=1, excluded=excluded)
    def build(shape: Shape, dtype: str) -> Case:
        n = shape[-1]
        if block and n % block:
            shape = (*shape[:-1], n + n % block)
            n = shape[-1]
        packed = (*shape[:-1], 2 * n)
        args = [Arg(packed, dtype, 1.5)]
        text, types = "%a0", tensor(packed, dtype)
        if scaled:
            args.append(Arg((*shape[:-1], 1), stat(dtype)))
            text += " scale(%a1)"
            types += f", {tensor(args[1].shape, args[1].dtype)}"
        tail = f" interleave({block})" if block else ""
        body = f"%r0 = fuseops.{op} {text} {parameters}{tail} : {types} -> {tensor(shape, dtype)}"

        def oracle(x: Tensor, *scale: Tensor) -> Tensor:
            first, last = halves(x, block)
            a, b = (first, last) if order == "first" else (last, first)
            y = activation(a) * gate(b)
            return y * scale[0] if scale else y

        return Case(args, [(shape, dtype)], body, oracle, units=units, cancels=cancels)


glu("swiglu", F.silu)
glu("glu", torch.sigmoid, cancels=True)
glu("geglu", gelu_tanh, name="tanh", units=32.0)
glu("geglu", gelu, parameters="approximate(none)", name="none")
glu("qgeglu", qgelu)
glu("reglu", F.relu)
glu("sreglu", srelu)
glu(
    "situglu",
    lambda a: 4 * torch.tanh(a / 4) * torch.sigmoid(a),
    lambda b: 2.5 * torch.tanh(b / 2.5),
    parameters="beta1(4.0) beta2(2.5)",
)


def clamped(c: Tensor) -> Tensor:
    """silu with alpha, of what is at most the limit; at the bound the gradient passes."""
    c = torch.clamp(c, max=1.0)
    return c * torch.sigmoid(1.702 * c)


glu(
    "clamped_swiglu",
    clamped,
    lambda b: torch.clamp(b, -1.0, 1.0) + 0.5,
    parameters="limit(1.0) alpha(1.702) offset(0.5)",
)
