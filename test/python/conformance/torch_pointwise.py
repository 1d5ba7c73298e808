# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of aten's pointwise operations."""

import torch
import torch.nn.functional as F

from conformance.ops_pointwise import BROADCASTS, Round
from conformance.ops_scalar import INEXACT, QUIRKS
from conformance.runner import DTYPES, FLOATS
from conformance.torch_case import ALL, INTS, NUMBERS, Of, torch_op

STEP = {"differences": "it is a step function"}
TIES = {"sign of zero": "torch's depends on its vector code"}
INTEGRAL = (*INTS, "i1")
UNIT = Of((-0.98, 0.98))
POSITIVE = Of((0.1, 9.0))
NARROW = Of((-4.0, 4.0))

# One tensor
for _name, _function, _of in [
    ("exp", torch.exp, Of()),
    ("exp2", torch.exp2, Of()),
    ("expm1", torch.expm1, Of()),
    ("log", torch.log, POSITIVE),
    ("log2", torch.log2, POSITIVE),
    ("log10", torch.log10, POSITIVE),
    ("log1p", torch.log1p, Of((-0.9, 9.0))),
    ("sqrt", torch.sqrt, POSITIVE),
    ("rsqrt", torch.rsqrt, POSITIVE),
    ("sin", torch.sin, Of()),
    ("cos", torch.cos, Of()),
    ("tan", torch.tan, Of((-1.4, 1.4))),
    ("sinh", torch.sinh, Of()),
    ("cosh", torch.cosh, Of()),
    ("tanh", torch.tanh, Of()),
    ("asin", torch.asin, UNIT),
    ("acos", torch.acos, UNIT),
    ("atan", torch.atan, Of()),
    ("asinh", torch.asinh, Of()),
    ("acosh", torch.acosh, Of((1.5, 9.0))),
    ("atanh", torch.atanh, UNIT),
    ("erf", torch.erf, Of()),
    ("erfc", torch.erfc, Of()),
    ("erfinv", torch.erfinv, UNIT),
    ("lgamma", torch.lgamma, POSITIVE),
    ("digamma", torch.digamma, POSITIVE),
    ("polygamma", lambda x: torch.polygamma(2, x), POSITIVE),
    ("i0", torch.i0, NARROW),
    ("special_i0e", torch.special.i0e, NARROW),
    ("special_i1", torch.special.i1, NARROW),
    ("special_i1e", torch.special.i1e, NARROW),
    ("special_entr", torch.special.entr, POSITIVE),
    ("sinc", torch.sinc, Of()),
    ("logit", torch.logit, Of((0.02, 0.98))),
    ("sigmoid", torch.sigmoid, Of()),
    ("reciprocal", torch.reciprocal, Of(away=0.1)),
]:
    torch_op(
        _name,
        _function,
        _of,
        dtypes=(*FLOATS, "i32", "i1"),
        cancels=True,
        inexact=INEXACT.get(_name, 0.0),
        excluded=QUIRKS.get(_name),
    )
for _name, _function, _of in [
    ("special_erfcx", torch.special.erfcx, NARROW),
    ("special_log_ndtr", torch.special.log_ndtr, NARROW),
    ("special_ndtri", torch.special.ndtri, Of((0.02, 0.98))),
]:
    # torch has these in no other type.
    torch_op(_name, _function, _of, dtypes=("f32", "f64"), cancels=True, excluded=QUIRKS.get(_name))
torch_op("log_sigmoid", F.logsigmoid, cancels=True)
for _name, _function in [
    ("silu", F.silu),
    ("gelu", F.gelu),
    ("mish", F.mish),
    ("elu", F.elu),
    ("celu", lambda x: F.celu(x, alpha=1.5)),
    ("selu", F.selu),
    ("softplus", lambda x: F.softplus(x, beta=1.5, threshold=2.0)),
    ("hardtanh", lambda x: F.hardtanh(x, -1.0, 0.5)),
    ("relu6", F.relu6),
    ("leaky_relu", lambda x: F.leaky_relu(x, 0.1)),
    ("softshrink", lambda x: F.softshrink(x, 0.5)),
    ("hardshrink", lambda x: F.hardshrink(x, 0.5)),
    ("threshold", lambda x: F.threshold(x, 0.5, -1.0)),
    ("tanhshrink", F.tanhshrink),
    ("softsign", F.softsign),
]:
    # Some are several operations, whose results torch rounds.
    torch_op(_name, _function, cancels=True, roundings=3, excluded=TIES)
# torch's gradients have 1 / 6 in f32, in f64 too.
torch_op("hardsigmoid", F.hardsigmoid, oracle=lambda x: F.relu6(x + 3) / 6)
torch_op("hardswish", F.hardswish, oracle=lambda x: x * F.relu6(x + 3) / 6)
torch_op("gelu", lambda x: F.gelu(x, approximate="tanh"), variant="tanh", cancels=True)
torch_op("relu", torch.relu, dtypes=NUMBERS, excluded=TIES)
torch_op("prelu", torch.prelu, Of(), Of(shape=lambda s: (1,)), min_rank=1)
torch_op("glu", lambda x: F.glu(x, -1), Of(shape=lambda s: (*s[:-1], 2 * s[-1])), min_rank=1)

for _name, _function in [
    ("abs", torch.abs),
    ("neg", torch.neg),
    ("sgn", torch.sgn),
    ("sign", torch.sign),
    ("square", torch.square),
    ("positive", lambda x: torch.positive(x) + 0),
]:
    torch_op(_name, _function, dtypes=NUMBERS)
for _name, _function in [
    ("floor", torch.floor),
    ("ceil", torch.ceil),
    ("trunc", torch.trunc),
    ("round", torch.round),
    ("frac", torch.frac),
]:
    torch_op(_name, _function, dtypes=FLOATS if _name == "frac" else NUMBERS, excluded=STEP)
torch_op("round", lambda x: torch.round(x, decimals=1), variant="decimals", cancels=True)
for _name, _function in [
    ("deg2rad", torch.deg2rad),
    ("rad2deg", torch.rad2deg),
]:
    torch_op(_name, _function)
torch_op("nan_to_num", lambda x: torch.nan_to_num(x, 1.0, 2.0, -3.0))
torch_op(
    "nan_to_num",
    torch.nan_to_num,
    variant="defaults",
    excluded={"special": "what an infinity becomes depends on the dtype"},
)
for _name, _function in [
    ("isnan", torch.isnan),
    ("isinf", torch.isinf),
    ("isfinite", torch.isfinite),
    ("isposinf", torch.isposinf),
    ("isneginf", torch.isneginf),
    ("signbit", torch.signbit),
    ("logical_not", torch.logical_not),
]:
    torch_op(_name, _function, dtypes=ALL)
torch_op("bitwise_not", torch.bitwise_not, dtypes=INTEGRAL)

# Two tensors: each broadcast, and a number instead of one.
SMALL = Of((-40, 40))


def two(name: str, function: object, *operands: Of, **options: object) -> None:
    """Every broadcast of the second operand, and the first one broadcast."""
    a, b = operands or (Of(), Of())
    for kind, shape in BROADCASTS.items():
        other = Of(b.range, b.scale, b.offset, b.away, b.dtype, shape, b.index)
        torch_op(name, function, a, other, variant=kind, **options)


two("add.Tensor", torch.add, dtypes=ALL)
two("sub.Tensor", torch.sub, dtypes=NUMBERS)
two("mul.Tensor", torch.mul, dtypes=ALL)
two("div.Tensor", torch.div, Of(), Of((1, 5), away=0.3), dtypes=NUMBERS)
for _name, _function in [
    ("maximum", torch.maximum),
    ("minimum", torch.minimum),
    ("fmax", torch.fmax),
    ("fmin", torch.fmin),
]:
    torch_op(_name, _function, Of(), Of(), dtypes=ALL, excluded=TIES)
    row = Of(shape=BROADCASTS["row"])
    torch_op(_name, _function, Of(), row, variant="row", excluded=TIES)
torch_op("add.Tensor", lambda a, b: torch.add(a, b, alpha=3), Of(), Of(), variant="alpha")
torch_op("sub.Tensor", lambda a, b: torch.sub(a, b, alpha=3), Of(), Of(), variant="alpha")
for _scalar in (2, 0.7):
    _v = f"scalar {_scalar}"
    torch_op("add.Tensor", lambda x, s=_scalar: x + s, variant=_v, dtypes=NUMBERS)
    torch_op("sub.Tensor", lambda x, s=_scalar: x - s, variant=_v, dtypes=NUMBERS)
    torch_op("mul.Tensor", lambda x, s=_scalar: x * s, variant=_v, dtypes=NUMBERS)
    torch_op("div.Tensor", lambda x, s=_scalar: x / s, variant=_v, dtypes=NUMBERS)
    torch_op("rsub", lambda x, s=_scalar: torch.rsub(x, s), variant=_v, dtypes=NUMBERS)
    torch_op("pow", lambda x, s=_scalar: x**s, POSITIVE, variant=_v, dtypes=FLOATS, units=128.0)
    torch_op("pow", lambda x, s=_scalar: s**x, variant=f"{_v} to a tensor", dtypes=FLOATS)
for _exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.7):
    torch_op(
        "pow",
        lambda x, s=_exponent: torch.pow(x, s),
        Of((0.2, 3.0)) if _exponent not in (0, 1, 2, 3) else Of(),
        excluded={"special gradient": "of -inf torch's is 0"} if _exponent == -0.5 else None,
        variant=f"to {_exponent}",
        units=128.0,
    )
torch_op("pow", torch.pow, POSITIVE, Of(), variant="tensors", cancels=True)
torch_op("pow", lambda x: torch.pow(x, 3), Of((-9, 9)), variant="integers", dtypes=NUMBERS)
for _mode in ("floor", "trunc"):
    torch_op(
        "div.Tensor_mode",
        lambda a, b, m=_mode: torch.div(a, b, rounding_mode=m),
        Of(),
        Of((1, 5), away=0.3),
        variant=_mode,
        dtypes=NUMBERS,
        excluded=STEP,
    )
for _name, _function in [
    ("remainder", torch.remainder),
    ("fmod", torch.fmod),
    ("floor_divide", torch.floor_divide),
]:
    _frozen = [0] if _name == "floor_divide" else []
    torch_op(
        _name,
        _function,
        Of(),
        Of((1, 5)),
        dtypes=NUMBERS,
        cancels=True,
        frozen=_frozen,
        excluded={**STEP, "special gradient": "torch's is 0 times infinity"},
    )
    torch_op(
        _name,
        lambda x, f=_function: f(x, 3),
        variant="scalar",
        dtypes=NUMBERS,
        cancels=True,
        frozen=_frozen,
    )
torch_op("atan2", torch.atan2, Of(), Of(), cancels=True)
torch_op("hypot", torch.hypot, Of(), Of(), cancels=True)
torch_op("logaddexp", torch.logaddexp, Of(), Of(), cancels=True)
torch_op("logaddexp2", torch.logaddexp2, Of(), Of(), cancels=True)
torch_op("xlogy", torch.xlogy, Of(), POSITIVE, cancels=True)
torch_op("special_xlog1py", torch.special.xlog1py, Of(), POSITIVE, cancels=True)
torch_op("copysign", torch.copysign, Of(), Of())
torch_op("nextafter", torch.nextafter, Of(), Of(), frozen=[0], dtypes=("f64",), excluded=STEP)
torch_op("heaviside", torch.heaviside, Of(), Of(), frozen=[0])
torch_op("ldexp", torch.ldexp, Of(), Of((-4, 4), dtype="i32"), dtypes=FLOATS[:1])
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _function = getattr(torch, _name)
    few = Of((-3, 3))
    torch_op(_name, _function, Of(), Of(), dtypes=ALL)
    torch_op(_name, _function, few, Of((-3, 3), shape=BROADCASTS["row"]), variant="row")
    torch_op(_name, lambda x, f=_function: f(x, 1), few, variant="scalar", dtypes=NUMBERS)
for _name in ("logical_and", "logical_or", "logical_xor"):
    torch_op(_name, getattr(torch, _name), Of((-1, 1)), Of((-1, 1)), dtypes=ALL)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    torch_op(_name, getattr(torch, _name), Of(), Of(), dtypes=INTEGRAL)
for _name in ("bitwise_left_shift", "bitwise_right_shift"):
    torch_op(_name, getattr(torch, _name), Of(), Of((0, 7)), dtypes=INTS)

# Three tensors and more
MASK = Of(dtype="i1", index=True)
torch_op("where", torch.where, MASK, Of(), Of(), dtypes=ALL)
torch_op(
    "where",
    torch.where,
    MASK,
    Of(shape=BROADCASTS["row"]),
    Of(shape=BROADCASTS["column"]),
    variant="broadcast",
)
torch_op("where", lambda m, x: torch.where(m, x, 0.5), MASK, Of(), variant="scalar")
torch_op("masked_fill", lambda x, m: x.masked_fill(m, -3), Of(), MASK, dtypes=ALL)
torch_op(
    "masked_fill",
    lambda x, m: x.masked_fill(m, float("-inf")),
    Of(),
    Of(dtype="i1", shape=BROADCASTS["row"], index=True),
    variant="row",
    excluded={"chain": "-inf is in it", "differences": "-inf is in it"},
)
torch_op("clamp", lambda x: torch.clamp(x, -1, 1), dtypes=NUMBERS)
torch_op("clamp", lambda x: torch.clamp(x, min=-0.5), variant="min")
torch_op("clamp", lambda x: torch.clamp(x, max=0.5), variant="max")
torch_op(
    "clamp.Tensor",
    torch.clamp,
    Of(),
    Of(offset=-1.0),
    Of(offset=1.0),
    dtypes=NUMBERS,
    excluded={"special gradient": "of a NaN bound torch has its own idea"},
)
torch_op("clamp_min", lambda x: torch.clamp_min(x, 0.5), dtypes=NUMBERS)
torch_op("clamp_max", lambda x: torch.clamp_max(x, 0.5), dtypes=NUMBERS)
torch_op("lerp", lambda a, b: torch.lerp(a, b, 0.3), Of(), Of(), cancels=True)
torch_op("lerp", torch.lerp, Of(), Of(), Of((0.0, 1.0)), variant="tensor", cancels=True)
torch_op("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=0.7), Of(), Of(), Of())
torch_op(
    "addcdiv",
    lambda a, b, c: torch.addcdiv(a, b, c, value=0.7),
    Of(),
    Of(),
    Of((0.5, 3.0)),
    cancels=True,
)

# Casts
for _to in ("f32", "bf16", "f16", "f64"):
    torch_op(
        "_to_copy",
        lambda x, t=_to: x.to(DTYPES[t]) * 1,
        oracle=lambda x, t=_to: Round.apply(x, DTYPES[t]),
        variant=f"to {_to}",
        dtypes=ALL,
        units=2.0,
        excluded={"differences": "a rounding is a step function", **TIES},
    )
for _to in ("i64", "i32", "i8", "ui8", "i1"):
    torch_op(
        "_to_copy",
        lambda x, t=_to: x.to(DTYPES[t]),
        Of((0, 100)),
        variant=f"to {_to}",
        dtypes=ALL,
    )

# Promotion of mixed operands
MIXED = [("f32", "bf16"), ("bf16", "f16"), ("f32", "i64"), ("i32", "i8"), ("ui8", "i8")]
for _a, _b in MIXED:
    torch_op(
        "add.Tensor",
        torch.add,
        Of(dtype=_a),
        Of((-90, 90), dtype=_b),
        variant=f"{_a} and {_b}",
        dtypes=(_a,),
    )


# The backward operations
def backward(name: str, function: object, *operands: Of, **options: object) -> None:
    """An operation of a gradient and more: its gradient is a second derivative."""
    torch_op(
        name,
        function,
        *(operands or (Of(), Of())),
        special=False,
        cancels=True,
        excluded={"kinks": "torch's second derivatives there are its own"},
        **options,
    )


aten = torch.ops.aten
backward("tanh_backward", aten.tanh_backward, Of(), UNIT)
backward("sigmoid_backward", aten.sigmoid_backward, Of(), Of((0.02, 0.98)))
backward("silu_backward", aten.silu_backward, frozen=[0])
backward("gelu_backward", aten.gelu_backward)
backward("gelu_backward", lambda g, x: aten.gelu_backward(g, x, approximate="tanh"), variant="tanh")
backward("threshold_backward", lambda g, x: aten.threshold_backward(g, x, 0.5))
backward("hardtanh_backward", lambda g, x: aten.hardtanh_backward(g, x, -1.0, 0.5))
backward("hardswish_backward", aten.hardswish_backward)
# Torch has 1 / 6 in f32.
backward("hardsigmoid_backward", aten.hardsigmoid_backward, frozen=[0], inexact=3e-8)
backward("leaky_relu_backward", lambda g, x: aten.leaky_relu_backward(g, x, 0.1, False))
backward("softplus_backward", lambda g, x: aten.softplus_backward(g, x, 1.5, 2.0))
backward("elu_backward", lambda g, x: aten.elu_backward(g, 1.2, 1.0, 1.0, False, x))
backward("mish_backward", aten.mish_backward, frozen=[0])
backward(
    "log_sigmoid_backward",
    lambda g, x: aten.log_sigmoid_backward(g, x, torch.exp(-x.detach().abs())),
)
backward("softshrink_backward", lambda g, x: aten.softshrink_backward(g, x, 0.5))
backward("hardshrink_backward", lambda g, x: aten.hardshrink_backward(g, x, 0.5))
backward(
    "logit_backward",
    lambda g, x: aten.logit_backward(g, x, None),
    Of(),
    Of((0.02, 0.98)),
    frozen=[0],
)
