# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why a sample isn't compared. A program that is refused for another reason is a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

# What a refusal says, and the reason that it counts as.
_REFUSALS: tuple[tuple[str, str], ...] = (
    (r"cannot convert `(?:torch\.)?([\w.]+)`: not a fusible operation", r"no conversion of \1"),
)


def find_reason(diagnostics: str) -> str | None:
    """The reason that a refusal counts as, None if it isn't listed."""
    for line in diagnostics.splitlines():
        if "error:" not in line:
            continue
        for pattern, reason in _REFUSALS:
            found = re.search(pattern, line)
            if found:
                return found.expand(reason)
        # Of several errors the first decides.
        return None
    return None


def reason_of_tensors(tensors: Sequence[torch.Tensor]) -> str | None:
    """Why arguments are outside of what FuseOps has."""
    for tensor in tensors:
        if tensor.layout != torch.strided:
            return "sparse tensor"
        if tensor.is_complex():
            return "complex dtype"
        if tensor.is_quantized:
            return "quantized dtype"
    return None


def reason_of_result(results: Sequence[Any]) -> str | None:
    """Why eager's results are outside of what FuseOps has."""
    if not results:
        return "no result"
    for result in results:
        if not isinstance(result, torch.Tensor):
            return "a result isn't a tensor"
    return reason_of_tensors(results)
