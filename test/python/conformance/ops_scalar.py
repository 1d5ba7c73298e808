# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the scalar operations in the body of a pointwise operation: values and the symbolic
derivatives, each against torch's function of the same name."""

from collections.abc import Callable

import torch
from torch import Tensor

from conformance.case import Arg, Case, Shape, Variant, add, stat, tensor

Range = tuple[float, float] | None
STEP = {"differences": "it is a step function"}
TIES = {"sign of zero": "torch's depends on its vector code"}


def scalar(
    op: str,
    function: Callable[..., Tensor],
    *ranges: Range,
    away: float = 0.0,
    inexact: float = 0.0,
    excluded: dict[str, str] | None = None,
) -> None:
    """`op` is the operation's text before its operands, as in `math.exp`."""

    def build(shape: Shape, dtype: str) -> Case:
        t, s = tensor(shape, dtype), stat(dtype)
        count = max(1, len(ranges))
        given = ", ".join(f"%x{i} = %a{i}" for i in range(count))
        operands = ", ".join(f"%x{i}" for i in range(count))
        call = f"{op}({operands})" if op.startswith("fuseops.special") else f"{op} {operands}"
        types = ", ".join([t] * count)
        body = (
            f"%r0 = fuseops.pointwise ({given}) : ({types}) -> {t} {{\n"
            f"  %y = {call} : {s}\n  fuseops.yield %y : {s}\n}}"
        )
        # What has a range of its own keeps its pole out.
        args = [
            Arg(shape, dtype, 1.5, 0.0, r, away=0.0 if r else away) for r in (ranges or (None,))
        ]
        return Case(
            args, [(shape, dtype)], body, function, cancels=True, units=16.0, inexact=inexact
        )

    name = op.rsplit(maxsplit=1)[-1] if op.startswith("fuseops") else op
    key = "fuseops.special" if op.startswith("fuseops.special") else "fuseops.pointwise"
    add(key, name, Variant(build, excluded=dict(excluded or {})))


# Where torch is not right itself.
QUIRKS = {
    "polygamma": {"special": "torch gives NaN at infinity"},
    "digamma": {"special gradient": "at a pole torch's is some large number"},
    "special_i1": {
        "sign of zero": "torch's i1(-0) is 0",
        "special gradient": "torch's at NaN is 1 / 2",
    },
    "sinc": {"special gradient": "torch's cancels next to 0"},
    "special_log_ndtr": {"special gradient": "torch's is NaN at -inf"},
}
QUIRKS["special_i1e"] = QUIRKS["special_i1"]
# How far its f64 is off: the slope of sinc cancels next to 0, trigamma(1) is 8e-10 too large.
INEXACT = {"sinc": 1e-10, "digamma": 2e-9, "polygamma": 2e-9}

UNIT, POSITIVE = (-0.98, 0.98), (0.1, 9.0)
scalar("math.exp", torch.exp)
scalar("math.exp2", torch.exp2)
scalar("math.expm1", torch.expm1)
scalar("math.log", torch.log, POSITIVE)
scalar("math.log2", torch.log2, POSITIVE)
scalar("math.log10", torch.log10, POSITIVE)
scalar("math.log1p", torch.log1p, (-0.9, 9.0))
scalar("math.sqrt", torch.sqrt, POSITIVE)
scalar("math.rsqrt", torch.rsqrt, POSITIVE)
scalar("math.cbrt", lambda x: x.abs() ** (1 / 3) * x.sign(), POSITIVE, excluded={"special": "ours"})
scalar("math.tanh", torch.tanh)
scalar("math.sin", torch.sin)
scalar("math.cos", torch.cos)
scalar("math.tan", torch.tan, (-1.4, 1.4))
scalar("math.sinh", torch.sinh)
scalar("math.cosh", torch.cosh)
scalar("math.asin", torch.asin, UNIT)
scalar("math.acos", torch.acos, UNIT)
scalar("math.atan", torch.atan)
scalar("math.asinh", torch.asinh)
scalar("math.acosh", torch.acosh, (1.5, 9.0))
scalar("math.atanh", torch.atanh, UNIT)
scalar("math.erf", torch.erf)
scalar("math.erfc", torch.erfc)
scalar("math.absf", torch.abs)
scalar("math.floor", torch.floor, excluded=STEP)
scalar("math.ceil", torch.ceil, excluded=STEP)
scalar("math.trunc", torch.trunc, excluded=STEP)
scalar("math.roundeven", torch.round, excluded=STEP)
scalar("arith.negf", torch.neg)
scalar("arith.addf", torch.add, None, None)
scalar("arith.subf", torch.sub, None, None)
scalar("arith.mulf", torch.mul, None, None)
scalar("arith.divf", torch.div, None, None, away=0.3)
scalar("arith.remf", torch.fmod, None, (0.5, 3.0), excluded=STEP)
scalar("arith.maximumf", torch.maximum, None, None, excluded=TIES)
scalar("arith.minimumf", torch.minimum, None, None, excluded=TIES)
scalar("arith.maxnumf", torch.fmax, None, None, excluded=TIES)
scalar("arith.minnumf", torch.fmin, None, None, excluded=TIES)
scalar("math.powf", torch.pow, POSITIVE, None)
scalar("math.atan2", torch.atan2, None, None)
scalar("math.copysign", torch.copysign, None, None)
scalar("math.fma", lambda a, b, c: a * b + c, None, None, None)

scalar("fuseops.special lgamma", torch.lgamma, POSITIVE)
scalar("fuseops.special erfinv", torch.erfinv, UNIT)
scalar("fuseops.special erfcx", torch.special.erfcx)
scalar("fuseops.special log_ndtr", torch.special.log_ndtr, excluded=QUIRKS["special_log_ndtr"])
scalar("fuseops.special ndtri", torch.special.ndtri, (0.02, 0.98))
scalar("fuseops.special i0", torch.special.i0)
scalar("fuseops.special i0e", torch.special.i0e)
scalar("fuseops.special i1", torch.special.i1, excluded=QUIRKS["special_i1"])
scalar("fuseops.special i1e", torch.special.i1e, excluded=QUIRKS["special_i1"])
scalar("fuseops.special sinc", torch.sinc, inexact=INEXACT["sinc"], excluded=QUIRKS["sinc"])
scalar("fuseops.special entr", torch.special.entr, POSITIVE)
scalar("fuseops.special logit", torch.logit, (0.02, 0.98))
scalar("fuseops.special xlogy", torch.xlogy, None, POSITIVE)
scalar("fuseops.special xlog1py", torch.special.xlog1py, None, POSITIVE)
scalar("fuseops.special hypot", torch.hypot, None, None)
scalar("fuseops.special logaddexp", torch.logaddexp, None, None)
scalar("fuseops.special logaddexp2", torch.logaddexp2, None, None)
