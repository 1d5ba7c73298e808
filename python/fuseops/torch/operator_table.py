# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators, as entries of `fuseops.torch.operators`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from fuseops.torch.builder import Builder, Type, Value, expect
from fuseops.torch.operators import Operator, register
from fuseops.torch.signature import Tensor

# Under autocast PyTorch computes these in f32: on CUDA, or the loss everywhere.
_ON_CUDA = {"cuda": torch.float32}
_ANYWHERE = {"cpu": torch.float32, "cuda": torch.float32}

X = Tensor("x")
RESIDUAL = Tensor("residual")
WEIGHT = Tensor("weight", "fixed", is_optional=True)
BIAS = Tensor("bias", "fixed", is_optional=True)
STATE = Tensor("random_state", "fixed", is_differentiable=False)
Y = Tensor("y")
# The sum that a normalization with a residual normalizes.
SUM = Tensor("sum")


def _statistic(name: str) -> Tensor:
    return Tensor(name, "statistic", is_differentiable=False)


def _statistic_type(x: Value) -> Type:
    is_double = x.type.dtype == torch.float64
    dtype = torch.float64 if is_double else torch.float32
    return Type((*x.type.shape[:-1], 1), dtype)


def _expect_same(name: str, value: Value, like: Value) -> None:
    rows, expected = value.type.shape[1:], like.type.shape[1:]
    expect(rows == expected, name, f"have the trailing sizes {expected}", rows)
    dtype = like.type.dtype
    expect(value.type.dtype == dtype, name, f"have dtype {dtype}", value.type.dtype)


def _expect_row(name: str, value: Value | None, x: Value) -> None:
    if value is not None:
        expected = (x.type.shape[-1],)
        expect(value.type.shape == expected, name, f"have shape {expected}", value.type.shape)


def _gelu(approximate: str) -> dict[str, str]:
    expect(approximate in ("none", "tanh"), "approximate", "be none or tanh", approximate)
    return {"approximate": f"#fuseops<gelu_kind {approximate}>"}


def _one(b: Builder, operation: str, operands: Sequence[Value], **attributes: object) -> Value:
    """An operation whose result has the type of its first operand."""
    return b.call(operation, operands, [operands[0].type], **attributes)[0]


# Gated linear units


def _build_gated(activation: str) -> Callable[..., Sequence[Value]]:
    def build(b: Builder, x: Value, y: Value, approximate: str = "") -> Sequence[Value]:
        _expect_same("y", y, x)
        kind = _gelu(approximate) if activation == "gelu" else {}
        return [_one(b, "mul", [_one(b, activation, [x], **kind), y])]

    return build


def _build_unit(operation: str) -> Callable[..., Sequence[Value]]:
    def build(b: Builder, x: Value, approximate: str = "") -> Sequence[Value]:
        size = x.type.shape[-1]
        expect(size % 2 == 0, "x", "have an even last size", size)
        kind = _gelu(approximate) if operation == "geglu" else {}
        half = Type((*x.type.shape[:-1], size // 2), x.type.dtype)
        # As torch.nn.functional.glu has it, and the units of transformers the others.
        order = f"#fuseops<half_order {'last' if operation == 'glu' else 'first'}>"
        return b.call(operation, [x], [half], activation=order, **kind)

    return build


def _register_gated() -> None:
    for activation in ("silu", "gelu", "relu"):
        register(
            Operator(
                f"{activation}_and_mul",
                arguments=(X, Y),
                results=(Tensor("result"),),
                build=_build_gated(activation),
                saved=("x", "y"),
                attributes=("str approximate",) if activation == "gelu" else (),
            )
        )
    for operation in ("swiglu", "geglu", "reglu", "glu"):
        register(
            Operator(
                operation,
                arguments=(X,),
                results=(Y,),
                build=_build_unit(operation),
                saved=("x",),
                attributes=("str approximate",) if operation == "geglu" else (),
            )
        )


# Normalizations


def _normalize(
    b: Builder, kind: str, x: Value, weight: Value | None, bias: Value | None, *, eps: float
) -> tuple[Value, ...]:
    """The result, then what backward reads: rstd, or mean and rstd."""
    _expect_row("weight", weight, x)
    _expect_row("bias", bias, x)
    for name, value in (("weight", weight), ("bias", bias)):
        # PyTorch's layer_norm takes f32 with narrower rows, and nothing else mixed.
        if kind == "layer" and value is not None and value.type.dtype != torch.float32:
            dtype = x.type.dtype
            expect(value.type.dtype == dtype, name, f"have dtype {dtype}", value.type.dtype)
    statistic = _statistic_type(x)
    if kind == "rms":
        return b.call("rms_norm", [x, weight], [x.type, statistic], eps=eps)
    given = ", ".join(str(int(value is not None)) for value in (x, weight, bias))
    segments = f"array<i32: {given}>"
    types = [x.type, statistic, statistic]
    return b.call("layer_norm", [x, weight, bias], types, eps=eps, operandSegmentSizes=segments)


def _build_norm(kind: str, has_residual: bool, has_dropout: bool) -> Callable[..., Sequence[Value]]:
    def build(
        b: Builder,
        x: Value,
        *,
        eps: float,
        p: float = 0.0,
        weight: Value | None = None,
        bias: Value | None = None,
        residual: Value | None = None,
        random_state: Value | None = None,
    ) -> Sequence[Value]:
        if has_dropout:
            x = _one(b, "dropout", [x, random_state], p=p)
        if not has_residual:
            return _normalize(b, kind, x, weight, bias, eps=eps)
        _expect_same("residual", residual, x)
        total = _one(b, "add", [x, residual])
        y, *statistics = _normalize(b, kind, total, weight, bias, eps=eps)
        return [y, total, *statistics]

    return build


def _register_norms() -> None:
    for kind in ("rms", "layer"):
        factors = (WEIGHT,) if kind == "rms" else (WEIGHT, BIAS)
        names = ("rstd",) if kind == "rms" else ("mean", "rstd")
        statistics = tuple(_statistic(name) for name in names)
        kept = tuple(entry.name for entry in (*factors, *statistics))
        autocast = _ON_CUDA if kind == "layer" else {}
        for prefix, has_residual, has_dropout in (
            ("", False, False),
            ("skip_", True, False),
            ("dropout_add_", True, True),
        ):
            register(
                Operator(
                    f"{prefix}{kind}_norm",
                    arguments=(
                        X,
                        *([RESIDUAL] if has_residual else []),
                        *factors,
                        *([STATE] if has_dropout else []),
                    ),
                    results=(Y, *([SUM] if has_residual else []), *statistics),
                    build=_build_norm(kind, has_residual, has_dropout),
                    saved=(
                        "sum" if has_residual else "x",
                        *kept,
                        *(["random_state"] if has_dropout else []),
                    ),
                    attributes=("float p", "float eps") if has_dropout else ("float eps",),
                    autocast=autocast,
                )
            )


def _build_l2_norm(b: Builder, x: Value, eps: float) -> Sequence[Value]:
    return b.call("l2_norm", [x], [x.type, _statistic_type(x)], eps=eps)


# Biases and dropout


def _build_bias_gelu(b: Builder, x: Value, bias: Value, approximate: str) -> Sequence[Value]:
    _expect_row("bias", bias, x)
    total = _one(b, "bias", [x, bias])
    return [_one(b, "gelu", [total], **_gelu(approximate)), total]


def _build_bias_dropout_add(
    b: Builder,
    x: Value,
    residual: Value,
    bias: Value | None,
    *,
    random_state: Value | None = None,
    p: float = 0.0,
) -> Sequence[Value]:
    _expect_same("residual", residual, x)
    _expect_row("bias", bias, x)
    if bias is not None:
        x = _one(b, "bias", [x, bias])
    if random_state is not None:
        x = _one(b, "dropout", [x, random_state], p=p)
    return [_one(b, "add", [x, residual])]


def _build_dropout(b: Builder, x: Value, random_state: Value, p: float) -> Sequence[Value]:
    return [_one(b, "dropout", [x, random_state], p=p)]


# Softmax and loss


def _build_alike(operation: str) -> Callable[..., Sequence[Value]]:
    return lambda b, x: [_one(b, operation, [x])]


def _build_cross_entropy(
    b: Builder, logits: Value, target: Value, ignore_index: int, label_smoothing: float
) -> Sequence[Value]:
    types = [_statistic_type(logits)] * 2
    return b.call(
        "cross_entropy",
        [logits, target],
        types,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


def _validate_cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int, label_smoothing: float
) -> None:
    counts = target != ignore_index
    is_outside = counts & ((target < 0) | (target >= logits.shape[-1]))
    if is_outside.any():
        raise IndexError(f"Target {int(target[is_outside][0])} is out of bounds.")


# Rotary embedding


def _build_rotary(
    b: Builder, x: Value, cos: Value, sin: Value, is_interleaved: bool
) -> Sequence[Value]:
    expected = (1, x.type.shape[-1] // 2)
    for name, value in (("cos", cos), ("sin", sin)):
        got = value.type.shape[1:]
        expect(got == expected, name, f"have the trailing sizes {expected}", got)
    pairs = f"#fuseops<pair_order {'interleaved' if is_interleaved else 'half'}>"
    return [_one(b, "rotary_embedding", [x, cos, sin], pairs=pairs)]


def _register_others() -> None:
    p = ("float p",)
    entries: list[dict[str, Any]] = [
        {
            "name": "l2_norm",
            "arguments": (X,),
            "results": (Y, _statistic("reciprocal_norm")),
            "build": _build_l2_norm,
            "saved": ("x", "reciprocal_norm"),
            "attributes": ("float eps",),
        },
        {
            "name": "bias_gelu",
            "arguments": (X, Tensor("bias", "fixed")),
            "results": (Y, Tensor("sum", is_differentiable=False)),
            "build": _build_bias_gelu,
            "saved": ("sum", "bias"),
            "attributes": ("str approximate",),
        },
        {
            "name": "bias_add",
            "arguments": (X, RESIDUAL, BIAS),
            "results": (Y,),
            "build": _build_bias_dropout_add,
            "saved": ("bias",),
        },
        {
            "name": "bias_dropout_add",
            "arguments": (X, RESIDUAL, BIAS, STATE),
            "results": (Y,),
            "build": _build_bias_dropout_add,
            "saved": ("bias", "random_state"),
            "attributes": p,
        },
        {
            "name": "dropout",
            "arguments": (X, STATE),
            "results": (Y,),
            "build": _build_dropout,
            "saved": ("random_state",),
            "attributes": p,
        },
        {
            "name": "softmax",
            "arguments": (X,),
            "results": (Y,),
            "build": _build_alike("softmax"),
            "saved": ("y",),
            "autocast": _ON_CUDA,
        },
        {
            "name": "log_softmax",
            "arguments": (X,),
            "results": (Y,),
            "build": _build_alike("log_softmax"),
            "saved": ("y",),
            "autocast": _ON_CUDA,
        },
        {
            "name": "cross_entropy",
            "arguments": (
                Tensor("logits"),
                Tensor("target", "values", is_differentiable=False),
            ),
            "results": (
                Tensor("loss", "values"),
                Tensor("log_sum_exp", "values", is_differentiable=False),
            ),
            "build": _build_cross_entropy,
            "saved": ("logits", "target", "log_sum_exp"),
            "attributes": ("int ignore_index", "float label_smoothing"),
            "autocast": _ANYWHERE,
            "validate": _validate_cross_entropy,
        },
        {
            "name": "rotary_embedding",
            "arguments": (X, Tensor("cos"), Tensor("sin")),
            "results": (Y,),
            "build": _build_rotary,
            "saved": ("x", "cos", "sin"),
            "saved_for": {"x": ("cos", "sin")},
            "attributes": ("bool is_interleaved",),
            "rank": 2,
        },
    ]
    for entry in entries:
        register(Operator(**entry))


_register_gated()
_register_norms()
_register_others()
