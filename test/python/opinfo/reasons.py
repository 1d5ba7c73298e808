# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why a sample isn't compared. A program that is refused for another reason is a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

# What a refusal says, and the reason that it counts as.
_PRODUCTS = "addbmm|addmm|addmv|baddbmm|bilinear|bmm|dot|einsum|linear|matmul|mm|mv|vdot"
_REFUSALS: tuple[tuple[str, str], ...] = (
    (r"cannot convert `(?:torch\.)?([\w.]+)`: not a fusible operation", r"no conversion of \1"),
    (
        rf"aten\.(?:{_PRODUCTS})`: expected operand \d to be f16, .* but got "
        r"`tensor<(?:\d+x)*u?i\d+>`",
        "matrix product of integers",
    ),
    (
        r"aten\.einsum`: expected a result of `tensor<.*i(?:8|16|32)>`, but got `tensor<.*i64>`",
        "matrix product of integers",
    ),
    (
        r"aten\.index_select`: expected indices that are constants of the program",
        "indices that only a run knows",
    ),
    (r"aten\.index_select`: expected a tensor with dimensions", "index_select of a scalar"),
    (r"aten\.margin_ranking_loss`: expected floating-point", "loss of integers, which wrap"),
    (
        r"aten\.native_dropout_backward`: expected operand 0 to be f16, .*i\d+>`",
        "dropout of integers",
    ),
    (
        r"aten\.instance_norm`: expected no running statistics to be updated",
        "instance normalization that updates running statistics",
    ),
    (r"aten\.linalg_norm`: expected the norm of a vector, but got that of a", "matrix norm"),
    (r"aten\.batch_norm`: expected a known number of channels", "no channels"),
    (
        r"aten\.batch_norm`: expected the running statistics to be used",
        "batch normalization by the batch's own statistics",
    ),
)


# Cases, as `operator/dtype: what differs`, of which PyTorch's own results are off by
# more than ours may be, and why; in f64 and of integers nothing more exact is at hand.
_GRADIENT = r"(gradient|backward graph's result) \d+: .* expected "
_SMALL = r"-?(0\.0(?!\d)|0\.00\d+|[\d.]+e-\d\d)"
_TINY = rf"{_SMALL}, but got {_SMALL}.*"
_INEXACT: tuple[tuple[str, str], ...] = (
    (r"nn\.functional\.hardsigmoid/f64: .*", "PyTorch's derivative has 1/6 in f32"),
    (r"nn\.functional\.celu/f64: gradient .*", "PyTorch's derivative has 1 / alpha in f32"),
    (r"((special\.)?polygamma\.\w+|digamma)/f64: .*", "PyTorch's trigamma is off by 1e-10"),
    (r"fmod/f64: .*", "PyTorch's derivative has a / b rounded up to the next integer"),
    (r"sinc/(i\d+|u8): .*", "PyTorch rounds pi * x to f32"),
    (
        r"special\.log_ndtr/f(32|64): gradient .*",
        "PyTorch's derivative is off by 1e-9 far below 0, and NaN at the end",
    ),
    (
        r"special\.erfcx/f(32|64): .*",
        "2 x erfcx(x) and what is subtracted from it are nearly equal",
    ),
    (rf"masked\.normalize/bf16: {_GRADIENT}{_TINY}", "a gradient cancels to 0"),
    (
        r"nn\.functional\.cosine_similarity/\w+: .*",
        "a gradient cancels to 0, and each leaves its own rounding",
    ),
    (
        rf"(nn\.functional\.(\w+_norm|normalize)|native_layer_norm)/\w+: {_GRADIENT}{_TINY}",
        "a gradient cancels to 0, and each leaves its own rounding",
    ),
    (
        r"sigmoid/f64: .* expected -?0\.0, but got -?[\d.]+e-\d+",
        "PyTorch's derivative of a sigmoid that rounds to 1 is 0",
    ),
    (
        r"ldexp/f64: gradient 1: .* expected -?inf, but got -?[\d.]+e\+308",
        "PyTorch's derivative overflows before it is multiplied by log(2)",
    ),
    (
        rf"nn\.functional\.margin_ranking_loss/\w+: {_GRADIENT}nan, but got -?0\.0(?!\d).*",
        "PyTorch's derivative of what is clamped is 0 times infinity",
    ),
    (r"(byte|char)/\w+: .*", "what no byte holds is another number on each machine"),
    (
        r"(short|int|long)/\w+: .* expected (-2147483648|-9223372036854775808|0), but got "
        r"(0|-1|2147483647|9223372036854775807)( .*)?",
        "what no integer holds is another number on each machine: ours is the nearest, NaN is 0",
    ),
    (
        r"sinc/\w+: .*",
        "PyTorch's slope cancels next to 0, and its sine is of a rounded pi x",
    ),
    (
        rf"special\.i1e?/\w+: {_GRADIENT}.*, but got nan.*",
        "PyTorch's derivative at NaN is half the gradient",
    ),
    (
        r"(special\.)?polygamma\.\w+/\w+: result 0: .* expected nan, but got -?0\.0(?!\d).*",
        "PyTorch's polygamma of infinity is NaN",
    ),
    (
        rf"((special\.)?polygamma\.\w+|digamma)/\w+: {_GRADIENT}.*, but got -?inf.*",
        "PyTorch's derivative at a pole is some large number",
    ),
    (
        r"(special\.)?polygamma\.\w+/\w+: result 0: .* expected [\d.e+]+, but got inf.*",
        "PyTorch's trigamma at a pole is some large number",
    ),
    (
        rf"special\.ndtr/\w+: result 0: .* expected 0\.0, but got {_SMALL}( .*)?",
        "PyTorch's ndtr is half of 1 + erf(x / sqrt(2)), which cancels far below 0",
    ),
    (
        r"special\.i0e/f32: backward graph's result 0: .*",
        "PyTorch's backward subtracts i0e from i1e, nearly equal, after each is rounded",
    ),
    (
        r"special\.zeta/\w+: result 0: .* expected nan, but got 0\.0(?!\d).*",
        "PyTorch's zeta of a large s is infinity times 0",
    ),
)


def reason_of_difference(case: str, difference: str) -> str | None:
    """Why a sample's results may differ, None where they have to be equal."""
    text = f"{case.rsplit('/', 1)[0]}: {difference}"
    for pattern, reason in _INEXACT:
        if re.fullmatch(pattern, text):
            return reason
    return None


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


def reason_of_operation(operation: torch._ops.OpOverload) -> str | None:
    """Why nothing can be compared where an operation takes part."""
    if torch.Tag.nondeterministic_seeded in operation.tags:
        return "random operation"
    if re.match(r"aten::(new_)?empty", operation._schema.name):
        return "memory that nothing was written to"
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
