# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations: name -> function from leading dimensions, columns and dtype to a Spec."""

from collections.abc import Callable

import numpy as np
import oracle
import runner
from cases import Arg, Shape, Spec, stat, tensor
from oracle import Array, Node

Build = Callable[[Shape, int, str], Spec]
TABLE: dict[str, Build] = {}


def case(name: str) -> Callable[[Build], Build]:
    """Puts a function into the table."""

    def add(build: Build) -> Build:
        TABLE[name] = build
        return build

    return add


def _unary(name: str, text: str, function: Callable[[Node], Node], units: float = 16.0) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        shape = (*lead, n)
        body = f"%r0 = {text.format('%a0')} : {tensor(shape, dtype)}"
        return Spec([Arg(shape, dtype, scale=2.0)], [(shape, dtype)], body, function, units=units)

    TABLE[name] = build


_unary("relu", "fuseops.relu {}", oracle.relu)
_unary("silu", "fuseops.silu {}", oracle.silu)
_unary("gelu", "fuseops.gelu {} approximate(none)", oracle.gelu)
_unary("gelu_tanh", "fuseops.gelu {} approximate(tanh)", oracle.gelu_tanh, 64.0)
_unary("scale", "fuseops.scale {} by(0.3)", lambda x: x * 0.3)


def _glu(op: str, activation: Callable[[Node], Node], order: str) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        packed, half = (*lead, 2 * n), (*lead, n)

        def forward(x: Node) -> Node:
            first, last = oracle.columns(x, 0, n), oracle.columns(x, n, n)
            a, b = (first, last) if order == "first" else (last, first)
            return activation(a) * b

        types = f"{tensor(packed, dtype)} -> {tensor(half, dtype)}"
        body = f"%r0 = fuseops.{op} %a0 activation({order}) : {types}"
        return Spec([Arg(packed, dtype)], [(half, dtype)], body, forward)

    TABLE[f"{op}_{order}"] = build


for _order in ("first", "last"):
    _glu("swiglu", oracle.silu, _order)
    _glu("geglu", oracle.gelu_tanh, _order)


@case("bias")
def bias(lead: Shape, n: int, dtype: str) -> Spec:
    shape = (*lead, n)
    body = f"%r0 = fuseops.bias %a0, %a1 : {tensor(shape, dtype)}, {tensor((n,), dtype)}"
    return Spec([Arg(shape, dtype), Arg((n,), dtype)], [(shape, dtype)], body, lambda x, b: x + b)


# How the second operand broadcasts: from leading dimensions and columns to its shape.
_BROADCASTS: dict[str, Callable[[Shape, int], Shape]] = {
    "same": lambda lead, n: (*lead, n),
    "row": lambda lead, n: (n,),
    "row_ones": lambda lead, n: (1,) * len(lead) + (n,),
    "column": lambda lead, n: (*lead, 1),
    "one": lambda lead, n: (1,),
    "scalar": lambda lead, n: (),
}


def _binary(op: str, function: Callable, broadcast: str, swapped: bool) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        shape = (*lead, n)
        args = [Arg(shape, dtype), Arg(_BROADCASTS[broadcast](lead, n), dtype)]
        if swapped:
            args.reverse()
        types = ", ".join(tensor(a.shape, a.dtype) for a in args)
        body = f"%r0 = fuseops.{op} %a0, %a1 : {types} -> {tensor(shape, dtype)}"
        return Spec(args, [(shape, dtype)], body, function)

    TABLE[f"{op}_{broadcast}{'_swapped' if swapped else ''}"] = build


for _broadcast in _BROADCASTS:
    _binary("add", lambda a, b: a + b, _broadcast, False)
    _binary("mul", lambda a, b: a * b, _broadcast, False)
_binary("mul", lambda a, b: a * b, "column", True)
_binary("add", lambda a, b: a + b, "row", True)


@case("mul_leading")
def mul_leading(lead: Shape, n: int, dtype: str) -> Spec:
    """An operand that repeats over the first of two leading dimensions only."""
    shape, other = ("M", 3, n), (3, n)
    types = f"{tensor(shape, dtype)}, {tensor(other, dtype)} -> {tensor(shape, dtype)}"
    body = f"%r0 = fuseops.mul %a0, %a1 : {types}"
    return Spec([Arg(shape, dtype), Arg(other, dtype)], [(shape, dtype)], body, lambda a, b: a * b)


@case("mul_itself")
def mul_itself(lead: Shape, n: int, dtype: str) -> Spec:
    shape = (*lead, n)
    t = tensor(shape, dtype)
    body = f"%r0 = fuseops.mul %a0, %a0 : {t}, {t} -> {t}"
    return Spec([Arg(shape, dtype)], [(shape, dtype)], body, lambda x: x * x, roundings=1)


@case("add_mixed")
def add_mixed(lead: Shape, n: int, dtype: str) -> Spec:
    shape, other = (*lead, n), "bf16" if dtype == "f32" else "f32"
    types = f"{tensor(shape, dtype)}, {tensor((n,), other)}"
    body = f"%r0 = fuseops.add %a0, %a1 : {types} -> {tensor(shape, dtype)}"
    args = [Arg(shape, dtype), Arg((n,), other)]
    return Spec(args, [(shape, dtype)], body, lambda a, b: a + b)


def rounded(x: Array, dtype: str) -> Array:
    """x rounded once to nearest even. ml_dtypes rounds twice on the way from f64, through f32; that
    is harmless where the first rounding is to odd."""
    if dtype in ("f64", "f32", "f16"):
        return x.astype(runner.DTYPES[dtype]).astype(np.float64)
    single = x.astype(np.float32)
    beyond = np.abs(single.astype(np.float64)) > np.abs(x)
    single = np.where(beyond, np.nextafter(single, np.float32(0)), single)
    inexact = single.astype(np.float64) != x
    single = (single.view(np.uint32) | inexact).view(np.float32)
    return single.astype(runner.DTYPES[dtype]).astype(np.float64)


def round_to(x: Node, dtype: str) -> Node:
    """x as the dtype holds it."""
    return oracle.straight_through(x, rounded(x.value, dtype))


def _cast(to: str) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        shape = (*lead, n)
        body = (
            f"%t = fuseops.cast %a0 : {tensor(shape, dtype)} -> {tensor(shape, to)}\n"
            f"%r0 = fuseops.cast %t : {tensor(shape, to)} -> {tensor(shape, dtype)}"
        )

        def forward(x: Node) -> Node:
            value = round_to(round_to(x, to), dtype)
            # The gradient is rounded too.
            return Node(value.value, [(x, lambda g: rounded(g, to))])

        return Spec([Arg(shape, dtype)], [(shape, dtype)], body, forward)

    TABLE[f"cast_{to}"] = build


for _to in ("bf16", "f16", "f32", "f64"):
    _cast(_to)


def _norm(op: str, gamma: bool, beta: bool, centered: bool) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        shape, stats = (*lead, n), ((*lead, 1), stat(dtype))
        args = [Arg(shape, dtype, offset=0.5)]
        text = f"fuseops.{op} %a0"
        if gamma:
            args.append(Arg((n,), dtype, scale=0.1, offset=0.0 if centered else 1.0))
            text += f" gamma(%a{len(args) - 1})"
        if beta:
            args.append(Arg((n,), dtype, scale=0.1))
            text += f" beta(%a{len(args) - 1})"
        # A large eps, so that a row of one element has a gradient.
        text += f" eps(0.01){' zero_centered_gamma' if centered else ''}"
        results = [(shape, dtype), stats, *([stats] if op == "layer_norm" else [])]
        operands = ", ".join(tensor(a.shape, a.dtype) for a in args)
        names = ", ".join(f"%r{i}" for i in range(len(results)))
        types = ", ".join(tensor(*r) for r in results)
        body = f"{names} = {text} : ({operands}) -> ({types})"

        def forward(x: Node, *rest: Node) -> tuple[Node, ...]:
            g = rest[0] if gamma else None
            b = rest[-1] if beta else None
            if op == "layer_norm":
                return oracle.layer_norm(x, g, b, 0.01, centered)
            return oracle.rms_norm(x, g, 0.01, centered)

        frozen = list(range(1, len(results)))
        return Spec(args, results, body, forward, frozen=frozen, units=64.0)

    suffix = ("_gamma" if gamma else "") + ("_beta" if beta else "")
    TABLE[f"{op}{suffix}{'_centered' if centered else ''}"] = build


_norm("layer_norm", False, False, False)
_norm("layer_norm", True, False, False)
_norm("layer_norm", False, True, False)
_norm("layer_norm", True, True, False)
_norm("layer_norm", True, True, True)
_norm("rms_norm", False, False, False)
_norm("rms_norm", True, False, False)
_norm("rms_norm", True, False, True)


def _reduction(op: str, kind: str) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        shape = (*lead, n)
        result: Shape = (n,) if op == "reduce_rows" else (*lead, 1)
        types = f"{tensor(shape, dtype)} -> {tensor(result, stat(dtype))}"
        body = f"%r0 = fuseops.{op} {kind} %a0 : {types}"

        def forward(x: Node) -> Node:
            axes = tuple(range(len(x.shape) - 1)) if op == "reduce_rows" else (len(x.shape) - 1,)
            keep = op == "reduce_columns"
            if kind == "sum":
                return oracle.total(x, axes, keepdims=keep)
            value = x.value.max(axis=axes, keepdims=keep, initial=-np.inf)
            return Node(value)

        frozen = [0] if kind == "max" else []
        return Spec([Arg(shape, dtype)], [(result, stat(dtype))], body, forward, frozen=frozen)

    TABLE[f"{op}_{kind}"] = build


for _op in ("reduce_rows", "reduce_columns"):
    for _kind in ("sum", "max"):
        _reduction(_op, _kind)


@case("reduce_to_scalar")
def reduce_to_scalar(lead: Shape, n: int, dtype: str) -> Spec:
    shape, s = (*lead, n), stat(dtype)
    body = (
        f"%t = fuseops.reduce_columns sum %a0 : {tensor(shape, dtype)} -> {tensor((*lead, 1), s)}\n"
        f"%r0 = fuseops.reduce_rows sum %t : {tensor((*lead, 1), s)} -> tensor<{s}>"
    )

    def forward(x: Node) -> Node:
        return oracle.total(x, tuple(range(len(x.shape))))

    return Spec([Arg(shape, dtype)], [((), s)], body, forward, terms=10**6)


@case("amax")
def amax(lead: Shape, n: int, dtype: str) -> Spec:
    shape = (*lead, n)
    body = f"%r0 = fuseops.amax %a0 : {tensor(shape, dtype)} -> tensor<{stat(dtype)}>"

    def forward(x: Node) -> Node:
        return Node(np.abs(x.value).max(initial=0.0))

    return Spec([Arg(shape, dtype)], [((), stat(dtype))], body, forward, frozen=[0])


@case("slice_columns")
def slice_columns(lead: Shape, n: int, dtype: str) -> Spec:
    wide, shape = (*lead, n + 5), (*lead, n)
    types = f"{tensor(wide, dtype)} -> {tensor(shape, dtype)}"
    body = f"%r0 = fuseops.slice %a0 dim({len(lead)}) offset(3) : {types}"
    return Spec([Arg(wide, dtype)], [(shape, dtype)], body, lambda x: oracle.columns(x, 3, n))


@case("concat_columns")
def concat_columns(lead: Shape, n: int, dtype: str) -> Spec:
    args = [Arg((*lead, k), dtype) for k in (n, 3, 2 * n)]
    result = (*lead, 3 * n + 3)
    operands = ", ".join(tensor(a.shape, dtype) for a in args)
    body = f"%r0 = fuseops.concat %a0, %a1, %a2 dim({len(lead)}) : ({operands}) -> {tensor(result, dtype)}"
    return Spec(args, [(result, dtype)], body, lambda *parts: oracle.concat(parts))


@case("reshape")
def reshape(lead: Shape, n: int, dtype: str) -> Spec:
    shape = (*lead, n)
    split = (*lead, n // 2, 2) if n % 2 == 0 else (*lead, 1, n)
    a, b = tensor(shape, dtype), tensor(split, dtype)
    body = (
        f"%s = fuseops.reshape %a0 : {a} -> {b}\n"
        f"%t = fuseops.silu %s : {b}\n"
        f"%r0 = fuseops.reshape %t : {b} -> {a}"
    )
    return Spec([Arg(shape, dtype)], [(shape, dtype)], body, oracle.silu)


def _rows(x: Node) -> Node:
    size = x.shape[-1]
    count = int(np.prod(x.shape[:-1], dtype=np.int64))
    return oracle.reshape(x, (count, size))


def _linear(biased: bool) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        k = 48
        args = [Arg((*lead, k), dtype), Arg((n, k), dtype, scale=k**-0.5)]
        text = "fuseops.linear %a0, %a1"
        if biased:
            args.append(Arg((n,), dtype))
            text += " bias(%a2)"
        operands = ", ".join(tensor(a.shape, a.dtype) for a in args)
        body = f"%r0 = {text} : ({operands}) -> {tensor((*lead, n), dtype)}"

        def forward(x: Node, w: Node, *rest: Node) -> Node:
            y = oracle.matmul(_rows(x), oracle.transpose(w))
            y = oracle.reshape(y, (*x.shape[:-1], n))
            return y + rest[0] if rest else y

        return Spec(args, [((*lead, n), dtype)], body, forward, terms=k)

    TABLE["linear_bias" if biased else "linear"] = build


_linear(False)
_linear(True)


def _matmul(tl: bool, tr: bool) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        k = 40
        if tl:
            # The rows are contracted: both operands have them.
            lhs, rhs = (*lead, k), (*lead, n)
            if tr:
                # op(rhs) is the transposed of [n, rows]: its columns may not be symbolic.
                lhs, rhs = (7, k), (n, 7)
            result: Shape = (k, n)
        else:
            lhs, rhs = (*lead, k), (n, k) if tr else (k, n)
            result = (*lead, n)
        args = [Arg(lhs, dtype), Arg(rhs, dtype, scale=0.2)]
        flags = (" transpose_lhs" if tl else "") + (" transpose_rhs" if tr else "")
        types = f"{tensor(lhs, dtype)}, {tensor(rhs, dtype)} -> {tensor(result, dtype)}"
        body = f"%r0 = fuseops.matmul %a0, %a1{flags} : {types}"

        def forward(a: Node, b: Node) -> Node:
            left, right = _rows(a), _rows(b)
            left = oracle.transpose(left) if tl else left
            right = oracle.transpose(right) if tr else right
            y = oracle.matmul(left, right)
            return y if tl else oracle.reshape(y, (*a.shape[:-1], n))

        return Spec(args, [(result, dtype)], body, forward, terms=1000)

    TABLE[f"matmul{'_t' if tl else '_n'}{'t' if tr else 'n'}"] = build


for _tl in (False, True):
    for _tr in (False, True):
        _matmul(_tl, _tr)


def quantized(shape: Shape, dtype: str, scale: str) -> str:
    """The IR's name of a quantized type."""
    extents = "x".join("?" if d == "M" else str(d) for d in shape)
    return f"!fuseops.quantized<{extents}x{dtype}, scale = {scale}, copies = row>"


def fp8_scale(amax: Array, largest: float) -> Array:
    """Rules fp8_s1 and fp8_s2 in f32."""
    with np.errstate(all="ignore"):
        value = np.float32(largest) / np.asarray(amax, np.float32)
    value = np.where(np.isinf(value), np.finfo(np.float32).max, value)
    usable = (amax > 0) & np.isfinite(amax)
    return np.where(usable, value, np.float32(1.0)).astype(np.float32)


def fp8_round(x: Array, scale: Array, dtype: str) -> Array:
    """Rules fp8_r1 to fp8_r3: the FP8 array of an array that f32 holds."""
    kind = runner.DTYPES[dtype]
    largest = np.float32({"f8E4M3FN": 448.0, "f8E5M2": 57344.0}[dtype])
    with np.errstate(all="ignore"):
        product = x.astype(np.float32) * scale
        clamped = np.where(np.isnan(product), product, np.clip(product, -largest, largest))
        return clamped.astype(np.float32).astype(kind)


def _quantize_rows(fmt: str) -> None:
    def build(lead: Shape, n: int, dtype: str) -> Spec:
        shape, kind = ("M", n), quantized(("M", n), fmt, "per_row")
        t = tensor(shape, dtype)
        body = (
            f"%q = fuseops.quantize %a0 : ({t}) -> {kind}\n"
            f"%r0 = fuseops.dequantize %q : {kind} -> {t}"
        )

        def forward(x: Node) -> Node:
            magnitude = np.abs(x.value).max(axis=-1, keepdims=True, initial=0.0)
            largest = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}[fmt]
            scale = fp8_scale(magnitude, largest)
            data = fp8_round(x.value, scale, fmt).astype(np.float64)
            inverse = (np.float32(1.0) / scale).astype(np.float64)
            return oracle.straight_through(x, data * inverse)

        # An operation's gradient passes through quantized types unrounded, or as bf16.
        return Spec([Arg(shape, dtype)], [(shape, dtype)], body, forward)

    TABLE[f"quantize_per_row_{fmt}"] = build


_quantize_rows("f8E4M3FN")
_quantize_rows("f8E5M2")
