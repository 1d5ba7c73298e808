# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the pointwise operations of the dialect."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from conformance.case import Arg, Case, Shape, stat, tensor, variant
from conformance.runner import DTYPES


def unary(
    op: str,
    text: str,
    function: Callable[[Tensor], Tensor],
    name: str = "",
    *,
    units: float = 8.0,
    excluded: dict[str, str] | None = None,
    eager: Callable[[Tensor], Tensor] | None = None,
) -> None:
    """`text` has the operation with {} for its operand."""

    @variant(f"fuseops.{op}", name, excluded=excluded or {})
    def build(shape: Shape, dtype: str) -> Case:
        body = f"%r0 = fuseops.{text.format('%a0')} : {tensor(shape, dtype)}"
        args = [Arg(shape, dtype, 2.0)]
        return Case(args, [(shape, dtype)], body, function, units=units, eager=eager)


def gelu(x: Tensor) -> Tensor:
    """Exact in the tail, which torch's 1 + erf is not."""
    return x * 0.5 * torch.special.erfc(x * -(0.5**0.5))


def gelu_tanh(x: Tensor) -> Tensor:
    """(1 + tanh u) / 2 = sigmoid(2 u), without its cancellation."""
    return x * torch.sigmoid(2 * (2 / math.pi) ** 0.5 * (x + 0.044715 * x * x * x))


def eager_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


def qgelu(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.702 * x)


def srelu(x: Tensor) -> Tensor:
    return torch.square(F.relu(x))


TIES = {"sign of zero": "torch's depends on its vector code"}
unary("relu", "relu {}", F.relu, excluded=TIES)
unary("silu", "silu {}", F.silu)
unary("gelu", "gelu {} approximate(none)", gelu, "none", units=16.0, eager=F.gelu)
unary("gelu", "gelu {} approximate(tanh)", gelu_tanh, "tanh", units=32.0, eager=eager_tanh)
unary("qgelu", "qgelu {}", qgelu)
unary("srelu", "srelu {}", srelu)
unary("scale", "scale {} by(0.3)", lambda x: x * 0.3)
unary("identity", "identity {}", lambda x: x)


def gradient(
    op: str,
    text: str,
    function: Callable[[Tensor], Tensor],
    name: str = "",
    *,
    units: float = 8.0,
    eager: Callable[[Tensor], Tensor] | None = None,
) -> None:
    """A *_grad operation is torch's autograd of its operation, with a gradient of its own."""

    @variant(f"fuseops.{op}", name)
    def build(shape: Shape, dtype: str) -> Case:
        t = tensor(shape, dtype)
        body = f"%r0 = fuseops.{text.format('%a0', '%a1')} : {t}"

        args = [Arg(shape, dtype), Arg(shape, dtype, 2.0)]
        return Case(
            args,
            [(shape, dtype)],
            body,
            slope(function),
            frozen=[0],
            units=units,
            eager=slope(eager or function),
        )


def slope(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The gradient of a function from that of its result."""

    def derivative(dy: Tensor, x: Tensor) -> Tensor:
        with torch.enable_grad():
            x = x if x.requires_grad else x.detach().requires_grad_()
            return torch.autograd.grad(function(x), x, dy, create_graph=True)[0]

    return derivative


gradient("relu_grad", "relu_grad {}, {}", F.relu)
gradient("silu_grad", "silu_grad {}, {}", F.silu)
gradient("gelu_grad", "gelu_grad {}, {} approximate(none)", gelu, "none", units=16, eager=F.gelu)
gradient(
    "gelu_grad",
    "gelu_grad {}, {} approximate(tanh)",
    gelu_tanh,
    "tanh",
    units=32.0,
    eager=eager_tanh,
)

# How the second operand broadcasts.
BROADCASTS: dict[str, Callable[[Shape], Shape]] = {
    "same": lambda s: s,
    "row": lambda s: s[-1:],
    "row_ones": lambda s: (1,) * (len(s) - 1) + s[-1:],
    "column": lambda s: (*s[:-1], 1) if s else (),
    "leading": lambda s: s[1:] if len(s) > 2 and "M" not in s[1:] else s[-1:],
    "outer": lambda s: s[:1] + (1,) * (len(s) - 1),
    "one": lambda s: (1,) if s else (),
    "scalar": lambda s: (),
}


def binary(op: str, function: Callable, kind: str, swapped: bool) -> None:
    """A pair of operands of which one broadcasts."""

    @variant(f"fuseops.{op}", f"{kind}{'_swapped' if swapped else ''}")
    def build(shape: Shape, dtype: str) -> Case:
        args = [Arg(shape, dtype), Arg(BROADCASTS[kind](shape), dtype)]
        if swapped:
            args.reverse()
        types = ", ".join(tensor(a.shape, a.dtype) for a in args)
        body = f"%r0 = fuseops.{op} %a0, %a1 : {types} -> {tensor(shape, dtype)}"
        return Case(args, [(shape, dtype)], body, function)


for _kind in BROADCASTS:
    binary("add", torch.add, _kind, False)
    binary("mul", torch.mul, _kind, False)
binary("mul", torch.mul, "column", True)
binary("add", torch.add, "row", True)
binary("mul", torch.mul, "scalar", True)


@variant("fuseops.mul", "itself")
def mul_itself(shape: Shape, dtype: str) -> Case:
    t = tensor(shape, dtype)
    body = f"%r0 = fuseops.mul %a0, %a0 : {t}, {t} -> {t}"
    return Case([Arg(shape, dtype)], [(shape, dtype)], body, lambda x: x * x, roundings=1)


@variant("fuseops.add", "mixed")
def add_mixed(shape: Shape, dtype: str) -> Case:
    other = "bf16" if dtype == "f32" else "f32"
    types = f"{tensor(shape, dtype)}, {tensor(shape[-1:], other)}"
    body = f"%r0 = fuseops.add %a0, %a1 : {types} -> {tensor(shape, dtype)}"
    args = [Arg(shape, dtype), Arg(shape[-1:], other)]
    return Case(args, [(shape, dtype)], body, torch.add)


@variant("fuseops.bias", min_rank=1)
def bias(shape: Shape, dtype: str) -> Case:
    t = f"{tensor(shape, dtype)}, {tensor(shape[-1:], dtype)}"
    body = f"%r0 = fuseops.bias %a0, %a1 : {t}"
    args = [Arg(shape, dtype), Arg(shape[-1:], dtype)]
    return Case(args, [(shape, dtype)], body, torch.add)


def rounded(x: Tensor, dtype: torch.dtype) -> Tensor:
    """An f64 tensor rounded once to nearest even; torch goes through f32, which is harmless where
    that first rounding is to odd."""
    single = x.float()
    if dtype in (torch.float64, torch.float32):
        return x.to(dtype).to(x.dtype)
    beyond = single.double().abs() > x.double().abs()
    single = torch.where(beyond, torch.nextafter(single, torch.zeros_like(single)), single)
    inexact = (single.double() != x) & single.isfinite()
    odd = (single.view(torch.int32) | inexact.int()).view(torch.float32)
    return odd.to(dtype).to(x.dtype)


class Round(torch.autograd.Function):
    """A cast there and back; its gradient is rounded too."""

    @staticmethod
    def forward(context: object, x: Tensor, dtype: torch.dtype) -> Tensor:
        context.dtype = dtype
        return rounded(x, dtype)

    @staticmethod
    def backward(context: object, gradient: Tensor) -> tuple[Tensor, None]:
        return rounded(gradient, context.dtype), None


STEP = {"differences": "a rounding is a step function"}


def cast(to: str) -> None:
    """To another float and back."""

    @variant("fuseops.cast", to, excluded=STEP)
    def build(shape: Shape, dtype: str) -> Case:
        body = (
            f"%t = fuseops.cast %a0 : {tensor(shape, dtype)} -> {tensor(shape, to)}\n"
            f"%r0 = fuseops.cast %t : {tensor(shape, to)} -> {tensor(shape, dtype)}"
        )

        def oracle(x: Tensor) -> Tensor:
            return Round.apply(x, DTYPES[to])

        return Case([Arg(shape, dtype)], [(shape, dtype)], body, oracle, inside=(to,))


for _to in ("bf16", "f16", "f32", "f64"):
    cast(_to)


@variant("fuseops.pointwise", "several")
def pointwise_several(shape: Shape, dtype: str) -> Case:
    """Operands of several broadcasts and two results, f32 inside where the type is narrower."""
    s = stat(dtype)
    row, column = BROADCASTS["row"](shape), BROADCASTS["column"](shape)
    shapes = [shape, row, column, ()]
    args = [Arg(x, dtype, 0.5) for x in shapes]
    types = ", ".join(tensor(x, dtype) for x in shapes)
    t = tensor(shape, dtype)
    body = f"""%r0, %r1 = fuseops.pointwise (%x = %a0, %u = %a1, %v = %a2, %w = %a3)
      : ({types}) -> ({t}, {t}) {{
      %p = arith.mulf %x, %u : {s}
      %q = math.fma %p, %v, %w : {s}
      %t = math.tanh %q : {s}
      %z = arith.constant 0.0 : {s}
      %c = arith.cmpf ogt, %x, %z : {s}
      %s = arith.select %c, %t, %u : {s}
      %n = arith.negf %q : {s}
      %e = math.exp %n : {s}
      fuseops.yield %s, %e : {s}, {s}
    }}"""

    def oracle(x: Tensor, u: Tensor, v: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        q = x * u * v + w
        return torch.where(x > 0, torch.tanh(q), u.expand(q.shape)), torch.exp(-q)

    return Case(args, [(shape, dtype)] * 2, body, oracle, cancels=True)


@variant(
    "fuseops.constant",
    min_rank=1,
    empty_columns=False,
    excluded={"special": "its other operand is none of them"},
)
def constant(shape: Shape, dtype: str) -> Case:
    """A row of the program itself."""
    n, t = shape[-1], tensor(shape, dtype)
    row = torch.linspace(-1.0, 1.0, n).to(DTYPES[dtype]).double()
    numbers = ", ".join(f"{float(v)!r}" for v in row)
    r = tensor((n,), dtype)
    body = (
        f"%c = fuseops.constant dense<[{numbers}]> : {r}\n"
        f"%r0 = fuseops.mul %a0, %c : {t}, {r} -> {t}"
    )
    return Case([Arg(shape, dtype)], [(shape, dtype)], body, lambda x: x * row.to(x.dtype))


@variant("fuseops.linear_index", dtypes=("i64",), max_rank=5)
def linear_index(shape: Shape, dtype: str) -> Case:
    return _index(shape, dtype, "linear_index", lambda x: torch.arange(x.numel()).view(x.shape))


@variant("fuseops.column_index", dtypes=("i64",), min_rank=1)
def column_index(shape: Shape, dtype: str) -> Case:
    return _index(shape, dtype, "column_index", lambda x: torch.arange(x.shape[-1]))


def _index(shape: Shape, dtype: str, op: str, position: Callable[[Tensor], Tensor]) -> Case:
    t = tensor(shape, dtype)
    body = f"""%r0 = fuseops.pointwise (%x = %a0) : ({t}) -> {t} {{
      %i = fuseops.{op} : i64
      %s = arith.addi %x, %i : i64
      fuseops.yield %s : i64
    }}"""
    return Case([Arg(shape, dtype)], [(shape, dtype)], body, lambda x: x + position(x))
