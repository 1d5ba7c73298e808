# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of several operations, in the table as `program`: fused chains, applies, values used
several times, gradients that add."""

import torch
import torch.nn.functional as F
from torch import Tensor

from conformance.case import Arg, Case, Shape, stat, tensor, variant
from conformance.ops_norm import layer_norm, rms_norm
from conformance.ops_pointwise import gelu, gelu_tanh

K = 40
OPTIONS = {"min_rank": 2, "empty_columns": False}


@variant("program", "bias gelu residual", **OPTIONS)
def bias_gelu_residual(shape: Shape, dtype: str) -> Case:
    t, row = tensor(shape, dtype), tensor(shape[-1:], dtype)
    body = f"""%z = fuseops.bias %a0, %a1 : {t}, {row}
      %g = fuseops.gelu %z approximate(tanh) : {t}
      %r0 = fuseops.add %g, %a0 : {t}, {t} -> {t}"""
    args = [Arg(shape, dtype), Arg(shape[-1:], dtype)]
    return Case(
        args,
        [(shape, dtype)],
        body,
        lambda x, b: gelu_tanh(x + b) + x,
        roundings=3,
        units=32.0,
    )


@variant("program", "norm linear swiglu", **OPTIONS)
def norm_linear_swiglu(shape: Shape, dtype: str) -> Case:
    """The first half of a Llama MLP, gate and up packed, with the residual as a second result."""
    lead, n = shape[:-1], shape[-1]
    args = [
        Arg((*lead, K), dtype),
        Arg((*lead, K), dtype),
        Arg((K,), dtype, 0.1, 1.0),
        Arg((2 * n, K), dtype, K**-0.5),
    ]
    x, g, w = (tensor(a.shape, dtype) for a in args[1:])
    wide, half = tensor((*lead, 2 * n), dtype), tensor(shape, dtype)
    s = tensor((*lead, 1), stat(dtype))
    body = f"""%r1 = fuseops.add %a0, %a1 : {x}, {x} -> {x}
      %n, %s = fuseops.rms_norm %r1 gamma(%a2) eps(0.01) : ({x}, {g}) -> ({x}, {s})
      %h = fuseops.linear %n, %a3 : ({x}, {w}) -> {wide}
      %r0 = fuseops.swiglu %h activation(first) : {wide} -> {half}"""

    def oracle(x: Tensor, r: Tensor, g: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        total = x + r
        h = F.linear(rms_norm(total, g, False)[0], w)
        return F.silu(h[..., :n]) * h[..., n:], total

    results = [(shape, dtype), ((*lead, K), dtype)]
    return Case(args, results, body, oracle, roundings=6, cancels=True)


@variant("program", "linear gelu linear norm", **OPTIONS)
def linear_gelu_linear_norm(shape: Shape, dtype: str) -> Case:
    """A GPT MLP with its norm after it."""
    lead, n = shape[:-1], shape[-1]
    x, wide = (*lead, K), shape
    args = [
        Arg(x, dtype),
        Arg((n, K), dtype, K**-0.5),
        Arg((n,), dtype, 0.1),
        Arg((K, n), dtype, n**-0.5),
        Arg((K,), dtype, 0.1),
        Arg((K,), dtype, 0.1, 1.0),
        Arg((K,), dtype, 0.1),
    ]
    t = [tensor(a.shape, dtype) for a in args]
    h, s = tensor(wide, dtype), tensor((*lead, 1), stat(dtype))
    norm = f"({t[0]}, {t[5]}, {t[6]}) -> ({t[0]}, {s}, {s})"
    body = f"""%h = fuseops.linear %a0, %a1 bias(%a2) : ({t[0]}, {t[1]}, {t[2]}) -> {h}
      %g = fuseops.gelu %h approximate(none) : {h}
      %o = fuseops.linear %g, %a3 bias(%a4) : ({h}, {t[3]}, {t[4]}) -> {t[0]}
      %d = fuseops.add %o, %a0 : {t[0]}, {t[0]} -> {t[0]}
      %r0, %mean, %rstd = fuseops.layer_norm %d gamma(%a5) beta(%a6) eps(0.01) : {norm}"""

    def oracle(x: Tensor, *rest: Tensor) -> Tensor:
        w1, b1, w2, b2, g, b = rest
        return layer_norm(F.linear(gelu(F.linear(x, w1, b1)), w2, b2) + x, g, b, False)[0]

    return Case(args, [(x, dtype)], body, oracle, roundings=8, cancels=True)


@variant("program", "used four times", **OPTIONS)
def used_four_times(shape: Shape, dtype: str) -> Case:
    """One value in a row reduction, a product, a slice and a result."""
    lead, n = shape[:-1], shape[-1]
    last = len(shape) - 1
    t, part = tensor(shape, dtype), (*lead, (n + 1) // 2)
    column = tensor((*lead, 1), stat(dtype))
    body = f"""%r0 = fuseops.silu %a0 : {t}
      %s = fuseops.reduce_columns sum %r0 : {t} -> {column}
      %m = fuseops.scale %s by(0.01) : {column}
      %r1 = fuseops.mul %r0, %m : {t}, {column} -> {t}
      %r2 = fuseops.slice %r0 dim({last}) offset({n // 2}) : {t} -> {tensor(part, dtype)}"""

    def oracle(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = F.silu(x)
        return y, y * y.sum(-1, keepdim=True) * 0.01, y[..., n // 2 :]

    results = [(shape, dtype)] * 2 + [(part, dtype)]
    return Case([Arg(shape, dtype)], results, body, oracle, roundings=4, cancels=True)


@variant("program", "applies", **OPTIONS)
def applies(shape: Shape, dtype: str) -> Case:
    """A fusible applied twice, through another one, with a pointwise body."""
    s, t = stat(dtype), tensor(shape, dtype)
    callees = f"""
    fuseops.fusible @activation(%x: {t}, %g: {t}) -> ({t}, {t})
    attributes {{sym_visibility = "private"}}
    forward {{
      %y = fuseops.pointwise (%a = %x) : ({t}) -> {t} {{
        %e = math.tanh %a : {s}
        %q = arith.mulf %a, %e : {s}
        fuseops.yield %q : {s}
      }}
      %z = fuseops.mul %y, %g : {t}, {t} -> {t}
      fuseops.return %z, %y : {t}, {t}
    }}
    fuseops.fusible @outer(%x: {t}, %g: {t}) -> {t} attributes {{sym_visibility = "private"}}
    forward {{
      %z, %y = fuseops.apply @activation(%x, %g) : ({t}, {t}) -> ({t}, {t})
      %w = fuseops.apply @relu(%z) : ({t}) -> {t}
      %s = fuseops.add %w, %y : {t}, {t} -> {t}
      fuseops.return %s : {t}
    }}
    fuseops.fusible @relu(%x: {t}) -> {t} attributes {{sym_visibility = "private"}}
    forward {{
      %y = fuseops.relu %x : {t}
      fuseops.return %y : {t}
    }}"""
    body = f"""%u = fuseops.apply @outer(%a0, %a1) : ({t}, {t}) -> {t}
      %v, %unused = fuseops.apply @activation(%u, %a1) : ({t}, {t}) -> ({t}, {t})
      %r0 = fuseops.add %v, %a0 : {t}, {t} -> {t}"""

    def oracle(x: Tensor, g: Tensor) -> Tensor:
        y = x * torch.tanh(x)
        u = F.relu(y * g) + y
        return u * torch.tanh(u) * g + x

    args = [Arg(shape, dtype), Arg(shape, dtype)]
    return Case(args, [(shape, dtype)], body, oracle, roundings=6, callees=callees, cancels=True)


class _HalfSlope(torch.autograd.Function):
    """8 x with the gradient 4 silu'(x)."""

    @staticmethod
    def forward(context: torch.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        context.save_for_backward(x)
        return 8 * x

    @staticmethod
    def backward(context: torch.autograd.function.FunctionCtx, gradient: Tensor) -> Tensor:
        (x,) = context.saved_tensors
        s = torch.sigmoid(x)
        return 4 * gradient * s * (1 + x * (1 - s))


@variant(
    "program", "backward by hand", **OPTIONS, excluded={"differences": "its gradient is not one"}
)
def backward_by_hand(shape: Shape, dtype: str) -> Case:
    """A callee's own backward stands for its gradient, right or not."""
    t = tensor(shape, dtype)
    callees = f"""
    fuseops.fusible @twice(%x: {t}) -> {t} attributes {{sym_visibility = "private"}}
    forward {{
      %y = fuseops.scale %x by(2.0) : {t}
      fuseops.return %y save(%x) : {t}, {t}
    }}
    backward (%dy: {t}, saved %x: {t}) {{
      %dx = fuseops.silu_grad %dy, %x : {t}
      fuseops.return %dx : {t}
    }}"""
    body = f"""%u = fuseops.apply @twice(%a0) : ({t}) -> {t}
      %r0 = fuseops.scale %u by(4.0) : {t}"""
    return Case(
        [Arg(shape, dtype)],
        [(shape, dtype)],
        body,
        _HalfSlope.apply,
        roundings=2,
        callees=callees,
    )
