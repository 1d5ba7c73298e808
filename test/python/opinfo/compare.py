# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a result is as right as eager PyTorch's."""

from __future__ import annotations

import math

import torch

# How far a result may be from another one in the same format: of the element,
# and of the largest element, which a sum's rounding follows. Each is some ulp.
_TOLERANCE = {
    torch.float64: (1e-11, 1e-13),
    torch.float32: (2e-5, 1e-6),
    torch.float16: (4e-3, 1e-3),
    torch.bfloat16: (3e-2, 8e-3),
}


def _error(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The distance of each element: 0 where both are the same infinity or NaN,
    infinite where only one of them is."""
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    return torch.where(same, 0.0, (actual - expected).abs()).nan_to_num(math.inf)


def difference(
    actual: torch.Tensor,
    eager: torch.Tensor,
    exact: torch.Tensor | None,
    error: torch.Tensor | None = None,
) -> str | None:
    """What is wrong with `actual`, None if nothing. `exact` is the result of the
    same call in f64: where eager's own error is large, ours may be as large.
    `error` is how large eager's may be, where it's known of more than this call."""
    if actual.dtype != eager.dtype:
        return f"expected dtype {eager.dtype}, but got {actual.dtype}"
    if actual.shape != eager.shape:
        return f"expected shape {tuple(eager.shape)}, but got {tuple(actual.shape)}"
    if not eager.dtype.is_floating_point:
        wrong = actual != eager
        return _describe(wrong, actual, eager, exact)
    relative, of_largest = _TOLERANCE[eager.dtype]
    format_max = torch.finfo(eager.dtype).max
    wide, theirs = actual.double(), eager.double()
    finite = theirs[theirs.isfinite()]
    largest = finite.abs().max() if finite.numel() else 0.0
    allowed = relative * theirs.abs().nan_to_num(0.0, posinf=0.0) + of_largest * largest
    allowed += torch.finfo(eager.dtype).smallest_normal
    wrong = _error(wide, theirs) > allowed
    if exact is not None and exact.shape == eager.shape and wrong.any():
        # Rounded, as it's infinite where the format cannot hold it.
        rounded = exact.to(eager.dtype).double()
        allowed += 2 * _error(theirs, exact.double()).nan_to_num(posinf=format_max)
        if error is not None:
            allowed += 2 * error
        wrong &= _error(wide, rounded) > allowed
    return _describe(wrong, actual, eager, exact)


def _describe(
    wrong: torch.Tensor, actual: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor | None
) -> str | None:
    count = int(wrong.sum())
    if not count:
        return None
    place = tuple(wrong.nonzero()[0].tolist())
    text = f"{count} of {wrong.numel()} elements differ, first at {list(place)}: "
    text += f"expected {eager[place].item()}, but got {actual[place].item()}"
    if exact is not None and exact.shape == eager.shape:
        text += f" (in f64 {exact[place].item()})"
    return text
