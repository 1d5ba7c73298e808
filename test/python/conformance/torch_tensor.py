# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of aten's reductions, norms, softmax and losses, layout and products."""

import torch
import torch.nn.functional as F

from conformance.runner import FLOATS
from conformance.torch_case import ALL, NUMBERS, Of, last, torch_op

aten = torch.ops.aten
ROW = {"min_rank": 1, "empty_columns": False}
SHARED = {
    "sign of zero": "torch's depends on its vector code",
    "special gradient": "of a NaN it is amax's, where torch's is shared among the NaNs",
}
TIES = {"sign of zero": "torch's depends on its vector code"}
WHOLE = (*FLOATS, "i64", "i32", "i8", "ui8", "i1")

# Reductions: of everything, of the last, the first, two dimensions, kept or not.
for _name, _function, _dtypes in [
    ("sum", torch.sum, WHOLE),
    ("mean", torch.mean, FLOATS),
]:
    torch_op(_name, _function, dtypes=_dtypes, cancels=True)
    for _dim in (-1, 0):
        for _keep in (False, True):
            torch_op(
                f"{_name}.dim_IntList" if _name == "sum" else f"{_name}.dim",
                lambda x, f=_function, d=_dim, k=_keep: f(x, d, keepdim=k),
                variant=f"{_dim} {'kept' if _keep else 'dropped'}",
                dtypes=_dtypes,
                cancels=True,
                min_rank=1,
            )
    torch_op(
        f"{_name}.dim_IntList" if _name == "sum" else f"{_name}.dim",
        lambda x, f=_function: f(x, (0, -1)),
        variant="two",
        cancels=True,
        min_rank=3,
    )
torch_op("sum.dim_IntList", lambda x: x.sum(-1, dtype=torch.float64), variant="f64", min_rank=1)
for _name, _function in [("amax", torch.amax), ("amin", torch.amin)]:
    for _dim in (-1, 0):
        torch_op(
            _name,
            lambda x, f=_function, d=_dim: f(x, d),
            variant=str(_dim),
            dtypes=WHOLE,
            excluded=TIES,
            min_rank=2,
            empty=False,
        )
for _name, _function in [("any", torch.any), ("all", torch.all)]:
    torch_op(_name, lambda x, f=_function: f(x, -1), dtypes=ALL, **ROW)
torch_op("max", torch.max, Of(), dtypes=NUMBERS, variant="whole", excluded=SHARED, empty=False)
torch_op("min", torch.min, Of(), dtypes=NUMBERS, variant="whole", excluded=SHARED, empty=False)
for _correction in (0, 1):
    torch_op(
        "var.correction",
        lambda x, c=_correction: torch.var(x, -1, correction=c, keepdim=True),
        variant=f"correction {_correction}",
        cancels=True,
        excluded={"differences": "one row of one element has none"} if _correction else None,
        special=not _correction,
        **ROW,
    )
torch_op("prod", lambda x: torch.prod(x, -1), Of((0.8, 1.2)), cancels=True, min_rank=1)
torch_op(
    "linalg_vector_norm",
    lambda x: torch.linalg.vector_norm(x, 2, -1, keepdim=True),
    cancels=True,
    roundings=1,
    excluded={"special gradient": "torch's is NaN where the norm is infinite"},
    **ROW,
)
torch_op("logsumexp", lambda x: torch.logsumexp(x, -1), cancels=True, roundings=2, **ROW)


# Norms
def layer_norm(x: torch.Tensor, *weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
    pair = [*weights, None, None]
    return aten.native_layer_norm(x, [x.shape[-1]], pair[0], pair[1], 0.01)


def own(s: tuple) -> tuple:
    return s[-1:]


WEIGHT, SHIFT = Of(scale=0.1, offset=1.0, shape=own), Of(scale=0.1, shape=own)
NORM = {"cancels": True, "roundings": 1, **ROW}
torch_op("native_layer_norm", layer_norm, frozen=[1, 2], **NORM)
torch_op(
    "native_layer_norm", layer_norm, Of(), WEIGHT, SHIFT, variant="affine", frozen=[1, 2], **NORM
)
torch_op(
    "layer_norm",
    lambda x, w, b: F.layer_norm(x, w.shape, w, b),
    Of(),
    WEIGHT,
    SHIFT,
    exported=True,
    **NORM,
)
torch_op(
    "rms_norm", lambda x, w: F.rms_norm(x, w.shape, w, 0.01), Of(), WEIGHT, exported=True, **NORM
)
torch_op(
    "rms_norm",
    lambda x: F.rms_norm(x, x.shape[-1:], eps=0.01),
    variant="plain",
    exported=True,
    **NORM,
)
torch_op(
    "group_norm_of_rows",
    lambda x: F.layer_norm(x, x.shape[-2:]) if x.dim() > 2 else F.layer_norm(x, x.shape[-1:]),
    **NORM,
)

# Softmax and losses
for _dim in (-1, 0):
    torch_op(
        "_softmax",
        lambda x, d=_dim: F.softmax(x, d),
        variant=str(_dim),
        cancels=True,
        roundings=2,
        min_rank=1,
        empty_columns=False,
    )
    torch_op(
        "_log_softmax",
        lambda x, d=_dim: F.log_softmax(x, d),
        variant=str(_dim),
        cancels=True,
        roundings=2,
        min_rank=1,
        empty_columns=False,
    )


def backward(name: str, function: object, *operands: Of) -> None:
    """An operation of a gradient and more."""
    torch_op(
        name,
        function,
        *operands,
        special=False,
        cancels=True,
        roundings=1,
        excluded={"kinks": "torch's second derivatives there are its own"},
        **ROW,
    )


backward(
    "_softmax_backward_data",
    lambda g, y: aten._softmax_backward_data(g, y, -1, y.dtype),
    Of(),
    Of((0.0, 0.2)),
)
backward(
    "_log_softmax_backward_data",
    lambda g, y: aten._log_softmax_backward_data(g, y, -1, y.dtype),
    Of(),
    Of((-4.0, -0.5)),
)
CLASSES = 9
TARGET = Of((0, CLASSES - 1), dtype="i64", shape=lambda s: s[:1], index=True)
LOGITS = Of(shape=lambda s: (*s[:1], CLASSES))
for _reduction in ("mean", "sum", "none"):
    torch_op(
        "cross_entropy",
        lambda x, t, r=_reduction: F.cross_entropy(x, t, reduction=r),
        LOGITS,
        TARGET,
        variant=_reduction,
        cancels=True,
        roundings=3,
        special=False,
        min_rank=1,
        max_rank=1,
    )
torch_op(
    "cross_entropy",
    lambda x, t: F.cross_entropy(x, t, ignore_index=3, label_smoothing=0.1),
    LOGITS,
    TARGET,
    variant="smoothed, ignoring",
    exported=True,
    cancels=True,
    roundings=4,
    special=False,
    min_rank=1,
    max_rank=1,
)
torch_op("nll_loss_forward", F.nll_loss, LOGITS, TARGET, min_rank=1, max_rank=1)
for _name, _function in [
    ("mse_loss", F.mse_loss),
    ("l1_loss", F.l1_loss),
    ("smooth_l1_loss", F.smooth_l1_loss),
    ("huber_loss", F.huber_loss),
    ("binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits),
]:
    torch_op(_name, _function, Of(), Of(), cancels=True, roundings=4, special=False, **ROW)
torch_op("kl_div", F.kl_div, Of(), Of((0.05, 0.9)), cancels=True, roundings=4, special=False, **ROW)
torch_op(
    "binary_cross_entropy",
    F.binary_cross_entropy,
    Of((0.05, 0.95)),
    Of((0.05, 0.95)),
    cancels=True,
    roundings=4,
    special=False,
    **ROW,
)

# Layout: exact in every dtype.
EXACT = {"dtypes": ALL, "units": 1.0}
torch_op("transpose.int", lambda x: x.transpose(-1, -2) * 1, min_rank=2, **EXACT)
torch_op("t", lambda x: x.t() * 1, min_rank=2, max_rank=2, **EXACT)
torch_op("permute", lambda x: x.permute(*reversed(range(x.dim()))) * 1, min_rank=2, **EXACT)
torch_op("slice.Tensor", lambda x: x[..., 1:3] * 1, **ROW, **EXACT)
torch_op("slice.Tensor", lambda x: x[..., ::2] * 1, variant="step", **ROW, **EXACT)
torch_op("select.int", lambda x: x.select(-1, 0) * 1, **ROW, **EXACT)
torch_op("flip", lambda x: x.flip(-1), min_rank=1, **EXACT)
torch_op("cat", lambda a, b: torch.cat([a, b], -1), Of(), Of(shape=last(3)), min_rank=1, **EXACT)
torch_op("cat", lambda a, b: torch.cat([a, b], 0), Of(), Of(), variant="0", min_rank=1, **EXACT)
torch_op("stack", lambda a, b: torch.stack([a, b], 0), Of(), Of(), **EXACT)
torch_op("stack", lambda a, b: torch.stack([a, b], -1), Of(), Of(), variant="last", **EXACT)
torch_op("expand", lambda x: x.expand(3, *x.shape) * 1, **EXACT)
torch_op("repeat", lambda x: x.repeat(2, *[1] * x.dim()), **EXACT)
torch_op("unsqueeze", lambda x: x.unsqueeze(0) * 1, **EXACT)
torch_op("squeeze", lambda x: x.unsqueeze(1).squeeze(1) * 1, min_rank=1, **EXACT)
torch_op("view", lambda x: x.reshape(-1) * 1, min_rank=1, **EXACT)
torch_op("unflatten", lambda x: x.unsqueeze(0).flatten(0, 1) * 1, min_rank=1, **EXACT)
torch_op(
    "split.Tensor",
    lambda x: [y * 1 for y in x.split(4, -1)],
    min_rank=1,
    empty_columns=False,
    **EXACT,
)
torch_op("chunk", lambda x: [y * 1 for y in x.chunk(2, 0)], min_rank=2, **EXACT)
torch_op("unbind.int", lambda x: [y * 1 for y in x[:2].unbind(0)], min_rank=2, **EXACT)
torch_op("clone", lambda x: x.clone(), **EXACT)
torch_op("constant_pad_nd", lambda x: F.pad(x, (1, 2), value=0.5), min_rank=1, units=1.0)
torch_op("tril", lambda x: x.tril(), min_rank=2, **EXACT)
torch_op("triu", lambda x: x.triu(1), min_rank=2, **EXACT)


# Rotary embedding as Llama has it
def rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


EVEN = Of(shape=lambda s: (*s[:-1], 2 * s[-1]))
ANGLES = Of((-1.0, 1.0), shape=lambda s: (2 * s[-1],))
torch_op("rotary", rotary, EVEN, ANGLES, ANGLES, roundings=3, cancels=True, **ROW)

# Products
PRODUCT = {"cancels": True, "special": False, "empty_columns": False}
K = 17
torch_op(
    "mm",
    torch.mm,
    Of(shape=last(K)),
    Of(shape=lambda s: (K, s[-1])),
    **PRODUCT,
    min_rank=2,
    max_rank=2,
)
torch_op(
    "addmm",
    torch.addmm,
    Of(shape=own),
    Of(shape=last(K)),
    Of(shape=lambda s: (K, s[-1])),
    **PRODUCT,
    min_rank=2,
    max_rank=2,
)
torch_op(
    "linear",
    F.linear,
    Of(shape=last(K)),
    Of(shape=lambda s: (s[-1], K)),
    Of(shape=own),
    **PRODUCT,
    min_rank=2,
)
torch_op(
    "matmul", torch.matmul, Of(shape=last(K)), Of(shape=lambda s: (K, s[-1])), **PRODUCT, min_rank=2
)
