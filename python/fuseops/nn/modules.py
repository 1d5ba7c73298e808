# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules over `fuseops.nn.functional`. Those with a peer in torch.nn are that
peer with another forward: same constructor, parameters and state_dict."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fuseops.nn import functional as F


class RMSNorm(nn.RMSNorm):
    """torch.nn.RMSNorm by `functional.rms_norm`."""

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class LayerNorm(nn.LayerNorm):
    """torch.nn.LayerNorm by `functional.layer_norm`."""

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class SkipRMSNorm(nn.RMSNorm):
    """`functional.skip_rms_norm`, with torch.nn.RMSNorm's parameters: takes `x` and
    `residual`, returns the normalized sum and the sum."""

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        return F.skip_rms_norm(x, residual, self.normalized_shape, self.weight, self.eps)


class SkipLayerNorm(nn.LayerNorm):
    """`functional.skip_layer_norm`, with torch.nn.LayerNorm's parameters: takes `x`
    and `residual`, returns the normalized sum and the sum."""

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        shape, factors = self.normalized_shape, (self.weight, self.bias)
        return F.skip_layer_norm(x, residual, shape, *factors, eps=self.eps)


class DropoutAddRMSNorm(nn.RMSNorm):
    """`functional.dropout_add_rms_norm`; `p` is the probability of a zero."""

    def __init__(self, normalized_shape: Any, p: float = 0.5, **options: Any) -> None:
        super().__init__(normalized_shape, **options)
        self.p = p

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        shape, factor = self.normalized_shape, self.weight
        options = {"p": self.p, "training": self.training, "eps": self.eps}
        return F.dropout_add_rms_norm(x, residual, shape, factor, **options)


class DropoutAddLayerNorm(nn.LayerNorm):
    """`functional.dropout_add_layer_norm`; `p` is the probability of a zero."""

    def __init__(self, normalized_shape: Any, p: float = 0.5, **options: Any) -> None:
        super().__init__(normalized_shape, **options)
        self.p = p

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        shape, factors = self.normalized_shape, (self.weight, self.bias)
        options = {"p": self.p, "training": self.training, "eps": self.eps}
        return F.dropout_add_layer_norm(x, residual, shape, *factors, **options)


class L2Norm(nn.Module):
    """`functional.l2_norm`."""

    def __init__(self, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.l2_norm(x, self.eps)


class SwiGLU(nn.Module):
    """`functional.swiglu`: `[..., 2N] -> [..., N]`."""

    def forward(self, x: Tensor) -> Tensor:
        return F.swiglu(x)


class GEGLU(nn.Module):
    """`functional.geglu`: `[..., 2N] -> [..., N]`."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        return F.geglu(x, self.approximate)


class ReGLU(nn.Module):
    """`functional.reglu`: `[..., 2N] -> [..., N]`."""

    def forward(self, x: Tensor) -> Tensor:
        return F.reglu(x)


class GLU(nn.GLU):
    """torch.nn.GLU by `functional.glu`."""

    def forward(self, x: Tensor) -> Tensor:
        if self.dim in (-1, x.dim() - 1):
            return F.glu(x)
        return F.glu(x.transpose(self.dim, -1)).transpose(self.dim, -1)


class Dropout(nn.Dropout):
    """torch.nn.Dropout by `functional.dropout`; never in place."""

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, self.training)


class BiasGELU(nn.Module):
    """`functional.bias_gelu` with a bias `[size]`, zero at first."""

    def __init__(
        self,
        size: int,
        approximate: str = "none",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.approximate = approximate
        self.bias = nn.Parameter(torch.zeros(size, device=device, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return F.bias_gelu(x, self.bias, self.approximate)


class BiasDropoutAdd(nn.Module):
    """`functional.bias_dropout_add` with a bias `[size]`, zero at first."""

    def __init__(
        self,
        size: int,
        p: float = 0.5,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.p = p
        self.bias = nn.Parameter(torch.zeros(size, device=device, dtype=dtype))

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return F.bias_dropout_add(x, self.bias, residual, self.p, self.training)


class Softmax(nn.Softmax):
    """torch.nn.Softmax by `functional.softmax`."""

    def forward(self, x: Tensor) -> Tensor:
        return F.softmax(x, -1 if self.dim is None else self.dim)


class LogSoftmax(nn.LogSoftmax):
    """torch.nn.LogSoftmax by `functional.log_softmax`."""

    def forward(self, x: Tensor) -> Tensor:
        return F.log_softmax(x, -1 if self.dim is None else self.dim)


class CrossEntropyLoss(nn.Module):
    """torch.nn.CrossEntropyLoss without class weights, by `functional.cross_entropy`."""

    def __init__(
        self,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        options = (self.ignore_index, self.reduction, self.label_smoothing)
        return F.cross_entropy(logits, target, *options)
