# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differentiable functions over the operators of `torch.ops.fuseops`.

Each is one kernel forward and one backward (a gradient over rows adds a step that
sums partial results), in eager execution and under torch.compile alike. Tensors
are f16, bf16, f32 or f64, on the CPU or a CUDA device, of any strides and leading
dimensions; results are contiguous. What is computed is f32 (f64 for f64) and is
rounded once. Another number of rows needs no compilation, another last size or
dtype does. Wrong dtypes, devices and shapes raise FuseOpsError, a RuntimeError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

import fuseops.torch.operator_table  # noqa: F401 - makes the operators

_OPS = torch.ops.fuseops


def _promote(*tensors: Tensor | None) -> list[Tensor | None]:
    """Tensors of one dtype, that which PyTorch's arithmetic gives."""
    given = [tensor for tensor in tensors if tensor is not None]
    dtype = given[0].dtype
    for tensor in given[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return [None if tensor is None else tensor.to(dtype) for tensor in tensors]


# Gated linear units


def silu_and_mul(x: Tensor, y: Tensor) -> Tensor:
    """`silu(x) * y`; both `[..., N]`."""
    return _OPS.silu_and_mul(*_promote(x, y))


def gelu_and_mul(x: Tensor, y: Tensor, approximate: str = "none") -> Tensor:
    """`gelu(x) * y`; both `[..., N]`, `approximate` as in torch's gelu."""
    return _OPS.gelu_and_mul(*_promote(x, y), approximate)


def relu_and_mul(x: Tensor, y: Tensor) -> Tensor:
    """`relu(x) * y`; both `[..., N]`."""
    return _OPS.relu_and_mul(*_promote(x, y))


def swiglu(x: Tensor) -> Tensor:
    """`silu(a) * b` of the halves `a` and `b` of the last dimension:
    `[..., 2N] -> [..., N]`."""
    return _OPS.swiglu(x)


def geglu(x: Tensor, approximate: str = "none") -> Tensor:
    """`gelu(a) * b` of the halves `a` and `b`: `[..., 2N] -> [..., N]`."""
    return _OPS.geglu(x, approximate)


def reglu(x: Tensor) -> Tensor:
    """`relu(a) * b` of the halves `a` and `b`: `[..., 2N] -> [..., N]`."""
    return _OPS.reglu(x)


def glu(x: Tensor) -> Tensor:
    """`a * sigmoid(b)` of the halves `a` and `b`, as torch's glu:
    `[..., 2N] -> [..., N]`."""
    return _OPS.glu(x)


# Normalizations


def _rows(x: Tensor, normalized_shape: Sequence[int]) -> Tensor:
    """The normalized dimensions as one."""
    shape = list(normalized_shape)
    if not shape or list(x.shape[x.dim() - len(shape) :]) != shape:
        raise RuntimeError(
            f"expected `x` to have the trailing sizes {shape}, but got {tuple(x.shape)}"
        )
    return x if len(shape) == 1 else x.flatten(-len(shape))


def _row(name: str, factor: Tensor | None, normalized_shape: Sequence[int]) -> Tensor | None:
    if factor is None or list(factor.shape) == list(normalized_shape):
        return None if factor is None else factor.reshape(-1)
    raise RuntimeError(
        f"expected `{name}` to have shape {list(normalized_shape)}, but got {tuple(factor.shape)}"
    )


def _epsilon(x: Tensor, eps: float | None) -> float:
    # PyTorch takes that of what it computes in.
    computed = torch.float64 if x.dtype == torch.float64 else torch.float32
    return torch.finfo(computed).eps if eps is None else eps


def rms_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """`x / sqrt(mean(x^2) + eps) * weight` over the dimensions of `normalized_shape`,
    as torch's rms_norm."""
    rows, factor = _rows(x, normalized_shape), _row("weight", weight, normalized_shape)
    return _OPS.rms_norm(rows, factor, _epsilon(x, eps))[0].view(x.shape)


def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean(x)) / sqrt(var(x) + eps) * weight + bias` over the dimensions of
    `normalized_shape`, as torch's layer_norm."""
    factors = (_row("weight", weight, normalized_shape), _row("bias", bias, normalized_shape))
    return _OPS.layer_norm(_rows(x, normalized_shape), *factors, eps)[0].view(x.shape)


def skip_rms_norm(
    x: Tensor,
    residual: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> tuple[Tensor, Tensor]:
    """`rms_norm(x + residual)`, and `x + residual`, which is rounded first."""
    return dropout_add_rms_norm(x, residual, normalized_shape, weight, p=0.0, eps=eps)


def skip_layer_norm(
    x: Tensor,
    residual: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor]:
    """`layer_norm(x + residual)`, and `x + residual`, which is rounded first."""
    return dropout_add_layer_norm(x, residual, normalized_shape, weight, bias, p=0.0, eps=eps)


def dropout_add_rms_norm(
    x: Tensor,
    residual: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    *,
    p: float = 0.5,
    training: bool = True,
    eps: float | None = None,
) -> tuple[Tensor, Tensor]:
    """`rms_norm(h)` and `h = dropout(x, p) + residual`, which is rounded first."""
    x, residual = _promote(_drop_all(x, p, training), residual)
    factor = _row("weight", weight, normalized_shape)
    rows = (_rows(x, normalized_shape), _rows(residual, normalized_shape))
    eps, state = _epsilon(x, eps), random_state(x, p, training)
    if state is None:
        y, total, _ = _OPS.skip_rms_norm(*rows, factor, eps)
    else:
        y, total, _ = _OPS.dropout_add_rms_norm(*rows, factor, state, p, eps)
    return y.view(x.shape), total.view(x.shape)


def dropout_add_layer_norm(
    x: Tensor,
    residual: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    p: float = 0.5,
    training: bool = True,
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor]:
    """`layer_norm(h)` and `h = dropout(x, p) + residual`, which is rounded first."""
    x, residual = _promote(_drop_all(x, p, training), residual)
    factors = (_row("weight", weight, normalized_shape), _row("bias", bias, normalized_shape))
    rows = (_rows(x, normalized_shape), _rows(residual, normalized_shape))
    state = random_state(x, p, training)
    if state is None:
        y, total, _, _ = _OPS.skip_layer_norm(*rows, *factors, eps)
    else:
        y, total, _, _ = _OPS.dropout_add_layer_norm(*rows, *factors, state, p, eps)
    return y.view(x.shape), total.view(x.shape)


def l2_norm(x: Tensor, eps: float = 1e-6) -> Tensor:
    """`x / sqrt(sum(x^2) + eps)` over the last dimension."""
    return _OPS.l2_norm(x, eps)[0]


# Biases and dropout


def random_state(x: Tensor, p: float, training: bool = True) -> Tensor | None:
    """Seed and offset of a dropout, int64 `[2]` on the device of `x`, drawn from
    torch's generator; None where nothing or everything is dropped. Forward and
    backward of an operator get the same, and what is dropped depends on nothing else."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"expected `p` to be a probability, but got {p}")
    if not training or p in (0.0, 1.0):
        return None
    return torch.randint(0, 2**63 - 1, (2,), dtype=torch.int64, device=x.device)


def _drop_all(x: Tensor, p: float, training: bool) -> Tensor:
    """What an operator need not drop since everything is, as PyTorch does it."""
    return nn.functional.dropout(x, p) if training and p == 1.0 else x


def dropout(x: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Zeroes elements with probability `p` and divides the others by `1 - p`. Where
    nothing is dropped the result is `x` itself, as torch's dropout has it."""
    state = random_state(x, p, training)
    return _drop_all(x, p, training) if state is None else _OPS.dropout(x, state, p)


def bias_gelu(x: Tensor, bias: Tensor, approximate: str = "none") -> Tensor:
    """`gelu(x + bias)`; `x` is `[..., N]`, `bias` `[N]`."""
    return _OPS.bias_gelu(*_promote(x, bias), approximate)[0]


def bias_dropout_add(
    x: Tensor,
    bias: Tensor | None,
    residual: Tensor,
    p: float = 0.5,
    training: bool = True,
) -> Tensor:
    """`dropout(x + bias, p) + residual`; `x` and `residual` are `[..., N]`, `bias`
    `[N]` or None."""
    x, bias, residual = _promote(x, bias, residual)
    state = random_state(x, p, training)
    if state is None:
        if p == 1.0 and training:
            x, bias = _drop_all(x if bias is None else x + bias, p, training), None
        return _OPS.bias_add(x, residual, bias)
    return _OPS.bias_dropout_add(x, residual, bias, state, p)


# Softmax and loss


def _along_last(
    operator: torch._ops.OpOverloadPacket, x: Tensor, dim: int, dtype: torch.dtype | None
) -> Tensor:
    x = x if dtype is None else x.to(dtype)
    if x.dim() == 0:
        return operator(x.reshape(1)).reshape(())
    if dim in (-1, x.dim() - 1):
        return operator(x)
    return operator(x.transpose(dim, -1)).transpose(dim, -1)


def softmax(x: Tensor, dim: int = -1, dtype: torch.dtype | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `dim`, as torch's softmax."""
    return _along_last(_OPS.softmax, x, dim, dtype)


def log_softmax(x: Tensor, dim: int = -1, dtype: torch.dtype | None = None) -> Tensor:
    """`x - log(sum(exp(x)))` along `dim`, as torch's log_softmax."""
    return _along_last(_OPS.log_softmax, x, dim, dtype)


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """As torch's cross_entropy with classes as `target`: logits `[C]`, `[N, C]` or
    `[N, C, ...]`, target int64 without the dimension of classes. `reduction` is none,
    sum or mean. A class that isn't there raises IndexError on the CPU; on CUDA the
    loss is NaN. The loss has the logits' dtype, f32 under autocast."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"expected `reduction` to be none, sum or mean, but got {reduction}")
    if target.dtype != torch.int64:
        raise RuntimeError(f"expected `target` to have dtype int64, but got {target.dtype}")
    rows = logits if logits.dim() < 3 else logits.movedim(1, -1)
    losses, log_sum = _OPS.cross_entropy(rows, target, ignore_index, label_smoothing)
    is_cast = torch.is_autocast_enabled(logits.device.type)
    dtype = log_sum.dtype if is_cast else logits.dtype
    if reduction == "none":
        return losses.to(dtype)
    total = losses.sum()
    if reduction == "mean":
        total = total / (target != ignore_index).sum()
    return total.to(dtype)


# Rotary embedding


def rotary_embedding(x: Tensor, cos: Tensor, sin: Tensor, is_interleaved: bool = False) -> Tensor:
    """Rotates pairs `(a, b)` of the last dimension: `(a cos - b sin, b cos + a sin)`.

    `x` is `[..., S, H, D]`; `cos` and `sin` are `[..., S, D / 2]`, and their leading
    sizes broadcast to those of `x`. The pairs are an element of the first half and
    one of the second, or neighbours where `is_interleaved`."""
    leading = x.shape[:-2]
    tables = []
    for name, table in (("cos", cos), ("sin", sin)):
        if math.prod(table.shape) == 0 or table.dim() == 0 or x.dim() < 3:
            raise RuntimeError(f"expected `{name}` to be [..., S, D / 2], but got {table.shape}")
        tables.append(table.expand(*leading, table.shape[-1]).unsqueeze(-2))
    return _OPS.rotary_embedding(x, *tables, is_interleaved)
