# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the rows of benchmarks/programs.json compute, in PyTorch, for Inductor.

Each function takes a program's arguments in their order and gives its results,
a quantized one as its row copy, its scales' inverses and, where it has one, its
transposed copy with its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import (
    cross_entropy,
    dropout,
    gelu,
    layer_norm,
    linear,
    rms_norm,
    silu,
    softmax,
)

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
EPSILON = 1e-6
Tensor = torch.Tensor
Outputs = tuple[Tensor, ...]


def to_fp8(scaled: Tensor, dtype: torch.dtype) -> Tensor:
    limit = torch.finfo(dtype).max
    return scaled.clamp(-limit, limit).to(dtype)


def whole(y: Tensor, scale: Tensor, copies: int, dtype: torch.dtype = E4M3) -> Outputs:
    """By one scale."""
    data, inverse = to_fp8(y.float() * scale, dtype), scale.reciprocal()
    return (data, inverse) if copies == 1 else (data, inverse, data.t().contiguous(), inverse)


def scale_of(amax: Tensor, dtype: torch.dtype = E4M3) -> Tensor:
    """The largest power of two that keeps `amax` finite; 1 where it is 0."""
    scale = torch.exp2(torch.floor(torch.log2(torch.finfo(dtype).max / amax)))
    return torch.where(amax > 0, scale, 1.0)


def blocks(y: Tensor, copies: int) -> Outputs:
    """In blocks of 1x128, those of a column of blocks together; a transposed copy has
    scales of its own."""
    outputs: Outputs = ()
    for copy in (y, y.t())[:copies]:
        parts = copy.float().unflatten(-1, (-1, 128))
        scale = scale_of(parts.abs().amax(-1, keepdim=True))
        data = to_fp8(parts * scale, E4M3).flatten(-2)
        outputs += (data.contiguous(), scale.squeeze(-1).reciprocal().t().contiguous())
    return outputs


def squares(y: Tensor) -> Outputs:
    """In blocks of 128x128; both copies have the same scales."""
    parts = y.float().unflatten(-1, (-1, 128)).unflatten(0, (-1, 128))
    scale = scale_of(parts.abs().amax((1, 3), keepdim=True))
    data = to_fp8(parts * scale, E4M3).flatten(-2).flatten(0, 1)
    inverse = scale.squeeze(3).squeeze(1).reciprocal()
    return data, inverse, data.t().contiguous(), inverse.t().contiguous()


def delayed(y: Tensor, scale: Tensor, copies: int, dtype: torch.dtype = E4M3) -> Outputs:
    return (*whole(y, scale, copies, dtype), y.abs().amax().float())


def current(y: Tensor, copies: int, dtype: torch.dtype = E4M3) -> Outputs:
    scale = torch.finfo(dtype).max / y.abs().amax().float()
    return whole(y, scale, copies, dtype)


def swiglu(x: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return silu(a) * b


def dswiglu(dy: Tensor, x: Tensor) -> Tensor:
    a, b = (half.float() for half in x.chunk(2, -1))
    s, g = torch.sigmoid(a), dy.float()
    halves = g * b * s * (1 + a * (1 - s)), g * a * s
    return torch.cat(halves, -1).to(x.dtype)


def bias_gelu(x: Tensor, b: Tensor) -> Tensor:
    return gelu(x + b, approximate="tanh")


def dgelu(dy: Tensor, z: Tensor) -> Tensor:
    return torch.ops.aten.gelu_backward(dy, z, approximate="tanh")


def add_norm(x: Tensor, r: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The normalized sum, the sum, and the reciprocal root mean squares."""
    s = x + r
    wide = s.float()
    rstd = torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)
    return (wide * rstd * g.float()).to(x.dtype), s, rstd


def norm_grad(dy: Tensor, x: Tensor, rstd: Tensor, g: Tensor, ds: Tensor) -> tuple[Tensor, Tensor]:
    dy, h = dy.float(), x.float() * rstd
    scaled = dy * g.float()
    dx = rstd * (scaled - h * (scaled * h).mean(-1, keepdim=True))
    return (ds.float() + dx).to(x.dtype), (dy * h).sum(0).to(g.dtype)


def rmsnorm(x: Tensor, g: Tensor) -> Tensor:
    return rms_norm(x, x.shape[-1:], g, EPSILON)


def add_rmsnorm(x: Tensor, r: Tensor, g: Tensor) -> Outputs:
    s = x + r
    return rmsnorm(s, g), s


def layernorm(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    return layer_norm(x, x.shape[-1:], g, b)


def dropout_add_layernorm(x: Tensor, r: Tensor, g: Tensor, b: Tensor, _: Tensor) -> Outputs:
    s = dropout(x, 0.1) + r
    return layernorm(s, g, b), s


def cross_entropy_fwd_bwd(x: Tensor, t: Tensor) -> Outputs:
    wide = x.float()
    log_sum = torch.logsumexp(wide, -1, keepdim=True)
    loss = cross_entropy(wide, t.squeeze(-1), reduction="none").unsqueeze(-1)
    hit = torch.arange(x.shape[-1], device=x.device) == t
    return loss, (torch.exp(wide - log_sum) - hit.float()).to(x.dtype)


def rope(x: Tensor, c: Tensor, s: Tensor) -> Tensor:
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * c - b * s, b * c + a * s), -1).to(x.dtype)


def _bias_gelu_fp8(copies: int, x: Tensor, b: Tensor, *scale: Tensor) -> Outputs:
    y = bias_gelu(x, b)
    return delayed(y, *scale, copies) if scale else blocks(y, copies)


def _dgelu_dbias(kind: str, dy: Tensor, z: Tensor, *scale: Tensor) -> Outputs:
    dz = dgelu(dy, z)
    quantized = {
        "delayed": lambda: delayed(dz, *scale, 2, E5M2),
        "block": lambda: blocks(dz, 2),
        "current": lambda: current(dz, 2, E5M2),
    }[kind]()
    return (*quantized, dz.sum(0, dtype=torch.float32).to(dz.dtype))


def _add_rmsnorm_fp8(copies: int, x: Tensor, r: Tensor, g: Tensor, *scale: Tensor) -> Outputs:
    y, s, rstd = add_norm(x, r, g)
    return (*(delayed(y, *scale, copies) if scale else blocks(y, copies)), s, rstd)


def _rmsnorm_bwd_add(*arguments: Tensor) -> Outputs:
    dx, dg = norm_grad(*arguments[:5])
    quantized = delayed(dx, arguments[5], 2, E5M2) if len(arguments) > 5 else blocks(dx, 2)
    return (*quantized, dx, dg)


_bind = functools.partial


def llama_mlp_block(x: Tensor, gamma: Tensor, gate_up: Tensor, down: Tensor) -> Tensor:
    h = rms_norm(x, x.shape[-1:], gamma, 1e-5)
    return x + linear(swiglu(linear(h, gate_up)), down)


# By the name of a case.
PEERS: dict[str, Callable[..., Any]] = {
    "llama_mlp_block.bf16": llama_mlp_block,
    "swiglu": swiglu,
    "swiglu_fp8.delayed": lambda x, s: delayed(swiglu(x), s, 1),
    "swiglu_fp8.block": lambda x: blocks(swiglu(x), 1),
    "swiglu_fp8_rc.delayed": lambda x, s: delayed(swiglu(x), s, 2),
    "swiglu_fp8_rc.block": lambda x: blocks(swiglu(x), 2),
    "swiglu_current_rc": lambda x: current(swiglu(x), 2),
    "dswiglu_fp8_rc.delayed": lambda dy, x, s: delayed(dswiglu(dy, x), s, 2, E5M2),
    "dswiglu_fp8_rc.block": lambda dy, x: blocks(dswiglu(dy, x), 2),
    "bias_gelu": bias_gelu,
    "bias_gelu_fp8.delayed": _bind(_bias_gelu_fp8, 1),
    "bias_gelu_fp8.block": _bind(_bias_gelu_fp8, 1),
    "bias_gelu_fp8_rc.delayed": _bind(_bias_gelu_fp8, 2),
    "bias_gelu_fp8_rc.block": _bind(_bias_gelu_fp8, 2),
    "dgelu_dbias_fp8_rc.delayed": _bind(_dgelu_dbias, "delayed"),
    "dgelu_dbias_fp8_rc.block": _bind(_dgelu_dbias, "block"),
    "dgelu_dbias_current_rc": _bind(_dgelu_dbias, "current"),
    "quantize_rc.delayed": lambda x, s: delayed(x, s, 2),
    "quantize_rc.block": lambda x: blocks(x, 2),
    "quantize_rc.square": squares,
    "rmsnorm": rmsnorm,
    "add_rmsnorm": add_rmsnorm,
    "add_rmsnorm_fp8.delayed": _bind(_add_rmsnorm_fp8, 1),
    "add_rmsnorm_fp8.block": _bind(_add_rmsnorm_fp8, 1),
    "add_rmsnorm_fp8_rc.delayed": _bind(_add_rmsnorm_fp8, 2),
    "add_rmsnorm_fp8_rc.block": _bind(_add_rmsnorm_fp8, 2),
    "rmsnorm_bwd_add_fp8_rc.delayed": _rmsnorm_bwd_add,
    "rmsnorm_bwd_add_fp8_rc.block": _rmsnorm_bwd_add,
    "layernorm": layernorm,
    "dropout_add_layernorm": dropout_add_layernorm,
    "softmax": lambda x: softmax(x, -1),
    "cross_entropy_fwd_bwd": cross_entropy_fwd_bwd,
    "rope": rope,
}

# Other random numbers than ours: results cannot be compared.
RANDOM = {"dropout_add_layernorm"}
