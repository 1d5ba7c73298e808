# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the FP8 operations: rules fp8_s1 to fp8_s3 and fp8_r1 to fp8_r3 written with torch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from conformance.case import Arg, Case, Shape, extents, stat, tensor, variant
from conformance.runner import DTYPES, FLOATS, INTEGERS

LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}
KINDS = ("per_row", "block<1x128>", "block<128x128>", "mx<1x32>")
STEP = {"differences": "a rounding is a step function", "chain": "a rounding is a step function"}


def quantized(shape: Shape, fmt: str, scale: str, copies: str = "row") -> str:
    """The IR's name of a quantized type."""
    sizes = "x".join("?" if d == "M" else str(d) for d in shape)
    return f"!fuseops.quantized<{sizes}x{fmt}, scale = {scale}, copies = {copies}>"


def fp8_scale(amax: Tensor, fmt: str, power: bool = False) -> Tensor:
    """Rules fp8_s1 to fp8_s3 in f32."""
    amax = amax.float()
    # Not by torch's __rtruediv__, which multiplies by the reciprocal.
    value = torch.full_like(amax, LARGEST[fmt]) / amax
    value = torch.where(value.isinf(), torch.finfo(torch.float32).max, value)
    value = torch.where((amax > 0) & amax.isfinite(), value, 1.0)
    return torch.ldexp(torch.ones_like(value), torch.frexp(value).exponent - 1) if power else value


def fp8_round(x: Tensor, scale: Tensor, fmt: str) -> Tensor:
    """Rules fp8_r1 to fp8_r3: the FP8 tensor of one that f32 holds."""
    product = x.float() * scale
    return product.clamp(-LARGEST[fmt], LARGEST[fmt]).to(DTYPES[fmt])


@dataclass(frozen=True)
class Factor:
    """An operand of a product: its shape, format and scales, and the copy that is read."""

    shape: Shape
    fmt: str
    kind: str
    copy: str


class _Through(torch.autograd.Function):
    """Another value with the argument's gradient."""

    @staticmethod
    def forward(context: object, x: Tensor, value: Tensor) -> Tensor:
        return value.to(x.dtype)

    @staticmethod
    def backward(context: object, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def mx_scale(amax: Tensor, fmt: str) -> Tensor:
    """Rule fp8_s5 in f32: what multiplies the elements."""
    mantissa, exponent = torch.frexp(amax.float() / LARGEST[fmt])
    exponent = torch.where(mantissa == 0.5, exponent - 1, exponent)
    exponent = torch.where(mantissa == 0, -127, exponent)
    exponent = torch.where(amax.isinf(), 127, exponent).clamp(-127, 127)
    scale = torch.ldexp(torch.ones_like(mantissa), -exponent)
    return torch.where(amax.isnan(), torch.nan, scale)


def reduce_blocks(x: Tensor, rows: int, columns: int) -> Tensor:
    """The largest element of each block of a matrix."""
    m, n = x.shape
    low = torch.full((m + -m % rows, n + -n % columns), -torch.inf, dtype=x.dtype)
    low[:m, :n] = x
    blocks = low.reshape(low.shape[0] // rows, rows, low.shape[1] // columns, columns)
    return blocks.amax((1, 3))


def expand_blocks(grid: Tensor, rows: int, columns: int, shape: Sequence[int]) -> Tensor:
    """One value a block, repeated over the elements of a matrix."""
    whole = grid.repeat_interleave(rows, 0).repeat_interleave(columns, 1)
    return whole[: shape[0], : shape[1]]


def block_of(kind: str, shape: Sequence[int], copy: str) -> tuple[int, int]:
    """The rows and columns of a matrix that one scale of a copy covers."""
    along = {"per_row": shape[1] if copy == "row" else shape[0], "mx<1x32>": 32}.get(kind, 128)
    if kind == "block<128x128>":
        return 128, 128
    return (1, along) if copy == "row" else (along, 1)


def logical(x: Tensor, fmt: str, kind: str, copy: str) -> Tensor:
    """What a matrix is after quantization, in f64."""
    if x.numel() == 0:
        return x.double()
    rows, columns = block_of(kind, x.shape, copy)
    amax = reduce_blocks(x.abs(), rows, columns)
    scale = mx_scale(amax, fmt) if kind == "mx<1x32>" else fp8_scale(amax, fmt)
    whole = expand_blocks(scale, rows, columns, x.shape)
    return fp8_round(x, whole, fmt).double() * (1.0 / whole).double()


def there_and_back(op: str, fmt: str, kind: str, copies: str) -> None:
    """Scales of the matrix's own; what is read is the row copy where there is one."""

    name = f"{kind} {fmt} {copies}"

    @variant(f"fuseops.{op}", name, min_rank=2, max_rank=2, excluded=STEP)
    def build(shape: Shape, dtype: str) -> Case:
        t, q = tensor(shape, dtype), quantized(shape, fmt, kind, copies)
        body = f"%q = fuseops.quantize %a0 : ({t}) -> {q}\n%r0 = fuseops.dequantize %q : {q} -> {t}"
        copy = "col" if copies == "col" else "row"

        def oracle(x: Tensor) -> Tensor:
            return _Through.apply(x, logical(x.detach(), fmt, kind, copy))

        return Case([Arg(shape, dtype)], [(shape, dtype)], body, oracle)


def per_tensor(op: str, fmt: str) -> None:
    """There and back, with a scale that is an argument, through plain buffers."""
    packs = op.endswith("pack_quantized")

    @variant(f"fuseops.{op}", f"per_tensor {fmt}", min_rank=2, max_rank=2, excluded=STEP)
    def build(shape: Shape, dtype: str) -> Case:
        t, q = tensor(shape, dtype), quantized(shape, fmt, "per_tensor")
        body = f"%q = fuseops.quantize %a0 scale(%a1) : ({t}, tensor<f32>) -> {q}\n"
        name = "%q"
        if packs:
            plain = tensor(shape, fmt)
            body += f"%d, %s = fuseops.unpack_quantized %q : ({q}) -> ({plain}, tensor<f32>)\n"
            body += f"%p = fuseops.pack_quantized %d, %s : ({plain}, tensor<f32>) -> {q}\n"
            name = "%p"
        body += f"%r0 = fuseops.dequantize {name} : {q} -> {t}"

        def oracle(x: Tensor, scale: Tensor) -> Tensor:
            single = scale.detach().float()
            data = fp8_round(x.detach(), single, fmt).double()
            return _Through.apply(x, data * (1.0 / single).double())

        args = [Arg(shape, dtype), Arg((), "f32", range=(0.5, 90.0))]
        # What passes through plain buffers has no gradient.
        frozen = [0] if packs else []
        return Case(args, [(shape, dtype)], body, oracle, frozen=frozen)


for _fmt in LARGEST:
    per_tensor("quantize", _fmt)
    for _kind in KINDS:
        there_and_back("quantize", _fmt, _kind, "row_col")
        there_and_back("dequantize", _fmt, _kind, "col")
    per_tensor("pack_quantized", _fmt)
    per_tensor("unpack_quantized", _fmt)


@variant("fuseops.amax")
def amax(shape: Shape, dtype: str) -> Case:
    body = f"%r0 = fuseops.amax %a0 : {tensor(shape, dtype)} -> tensor<{stat(dtype)}>"

    def oracle(x: Tensor) -> Tensor:
        return x.abs().amax() if x.numel() else x.new_zeros(())

    return Case([Arg(shape, dtype)], [((), stat(dtype))], body, oracle, frozen=[0])


def compute_scale(fmt: str, power: bool) -> None:
    """From an amax, which may be 0, infinite or NaN."""
    name = f"{fmt} {'power' if power else ''}".strip()

    @variant("fuseops.compute_scale", name, dtypes=("f32",), max_rank=1)
    def build(shape: Shape, dtype: str) -> Case:
        t = tensor(shape, dtype)
        words = f"format({fmt}){' power_of_two' if power else ''}"
        body = f"%r0 = fuseops.compute_scale %a0 {words} : {t}"
        args = [Arg(shape, dtype, range=(0.01, 900.0))]
        return Case(
            args, [(shape, dtype)], body, lambda x: fp8_scale(x, fmt, power).to(x.dtype), frozen=[0]
        )


for _fmt in LARGEST:
    compute_scale(_fmt, False)
    compute_scale(_fmt, True)


def update_scale(fmt: str, most_recent: bool) -> None:
    """Delayed scaling, one call."""
    name = f"{fmt} {'most recent' if most_recent else 'max'}"

    @variant("fuseops.update_scale", name, dtypes=("f32",), min_rank=1, max_rank=1)
    def build(shape: Shape, dtype: str) -> Case:
        past: Shape = (5, *shape)
        words = f"format({fmt}){' most_recent' if most_recent else ''} {{margin = 1 : i64}}"
        types = f"{tensor(shape, dtype)}, {tensor(past, dtype)}"
        body = f"%r0, %r1 = fuseops.update_scale %a0, %a1, %a2 {words} : {types}"

        def oracle(scale: Tensor, history: Tensor, amax: Tensor) -> list[Tensor]:
            history = torch.cat([history[1:], amax[None]])
            chosen = (amax if most_recent else history.amax(0)).float()
            usable = (chosen > 0) & chosen.isfinite()
            found = torch.where(usable, fp8_scale(chosen, fmt) / 2, scale.float())
            return [found.to(scale.dtype), history]

        sizes = (0.01, 900.0)
        args = [Arg(s, dtype, range=sizes) for s in (shape, past, shape)]
        return Case(args, [(shape, dtype), (past, dtype)], body, oracle, frozen=[0, 1])


def blocks(rows: int, columns: int) -> None:
    """Reduced and expanded; blocks of several rows only where the rows are known."""
    words = f"block({rows}, {columns})"

    def split(shape: Shape) -> tuple[Shape, Shape]:
        whole = shape if rows == 1 else extents(shape, 200)
        first = whole[0] if rows == 1 else -(-whole[0] // rows)
        return whole, (first, -(-whole[1] // columns))

    @variant("fuseops.reduce_blocks", words, dtypes=("f32", "f64"), min_rank=2, max_rank=2)
    def reduced(shape: Shape, dtype: str) -> Case:
        whole, grid = split(shape)
        types = f"{tensor(whole, dtype)} -> {tensor(grid, dtype)}"
        body = f"%r0 = fuseops.reduce_blocks %a0 {words} : {types}"

        def oracle(x: Tensor) -> Tensor:
            return reduce_blocks(x, rows, columns)

        return Case([Arg(whole, dtype)], [(grid, dtype)], body, oracle, frozen=[0])

    types = (*FLOATS, *INTEGERS, "i1", *LARGEST)

    @variant("fuseops.expand_blocks", words, dtypes=types, min_rank=2, max_rank=2)
    def expanded(shape: Shape, dtype: str) -> Case:
        whole, grid = split(shape)
        body = f"%r0 = fuseops.expand_blocks %a0 {words} : "
        body += f"{tensor(grid, dtype)} -> {tensor(whole, dtype)}"

        def oracle(x: Tensor) -> Tensor:
            m = x.shape[0] if rows == 1 else whole[0]
            return expand_blocks(x, rows, columns, (m, whole[1]))

        return Case([Arg(grid, dtype)], [(whole, dtype)], body, oracle, frozen=[0])


for _fmt in LARGEST:
    update_scale(_fmt, False)
    update_scale(_fmt, True)
for _block in ((1, 32), (32, 1), (1, 128), (128, 1), (128, 128)):
    blocks(*_block)


def quantized_product(
    op: str, name: str, operands: Callable[[Shape], list[Factor]], flags: str = ""
) -> None:
    """A product of quantized operands, each of which is read from one of its copies."""

    @variant(
        op,
        name,
        dtypes=("f32", "bf16", "f16"),
        min_rank=2,
        max_rank=2,
        empty_columns=False,
        excluded={**STEP, "special": "a product sums NaN over rows and columns"},
    )
    def build(shape: Shape, dtype: str) -> Case:
        factors = operands(shape)
        is_transposed = "transpose_lhs" in flags
        result: Shape = (factors[0].shape[1], shape[1]) if is_transposed else shape
        lines, types = [], []
        for i, f in enumerate(factors):
            q = quantized(f.shape, f.fmt, f.kind, f.copy)
            lines.append(f"%q{i} = fuseops.quantize %a{i} : ({tensor(f.shape, dtype)}) -> {q}")
            types.append(q)
        both = f"({', '.join(types)}) ->" if op.endswith("linear") else f"{', '.join(types)} ->"
        lines.append(f"%r0 = {op} %q0, %q1{flags} : {both} {tensor(result, dtype)}")

        def oracle(x: Tensor, w: Tensor) -> Tensor:
            left, right = (
                _Through.apply(t, logical(t.detach(), f.fmt, f.kind, f.copy))
                for t, f in zip((x, w), factors, strict=True)
            )
            left = left.T if factors[0].copy == "col" else left
            return left @ (right if factors[1].copy == "col" else right.T)

        # Tensor cores add products of FP8 with about as many bits as f16 has, and a gradient is of
        # an operand that is dequantized to its dtype.
        return Case(
            [Arg(factors[0].shape, dtype), Arg(factors[1].shape, dtype, 0.2)],
            [(result, dtype)],
            "\n".join(lines),
            oracle,
            cancels=True,
            inside=("f16",),
            roundings=2,
        )


def products(kind: str, fmt: str) -> None:
    """The three products of a linear layer: weights are E4M3, and of larger blocks."""
    weight = "block<128x128>" if kind == "block<1x128>" else kind
    k, name = 160, f"{kind} {fmt}"

    def forward(shape: Shape) -> list[Factor]:
        return [
            Factor((shape[0], k), fmt, kind, "row"),
            Factor((shape[1], k), "f8E4M3FN", weight, "row"),
        ]

    def of_input(shape: Shape) -> list[Factor]:
        return [
            Factor((shape[0], k), fmt, kind, "row"),
            Factor((k, shape[1]), "f8E4M3FN", weight, "col"),
        ]

    def of_weight(shape: Shape) -> list[Factor]:
        return [
            Factor((shape[0], k), fmt, kind, "col"),
            Factor(shape, "f8E4M3FN", kind, "col"),
        ]

    quantized_product("fuseops.linear", name, forward)
    quantized_product("fuseops.matmul", f"{name} nt", forward, " transpose_rhs")
    quantized_product("fuseops.matmul", f"{name} nn", of_input)
    quantized_product("fuseops.matmul", f"{name} tn", of_weight, " transpose_lhs")


for _kind in KINDS:
    for _fmt in LARGEST:
        products(_kind, _fmt)
