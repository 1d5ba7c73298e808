# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of the FP8 operations: rules fp8_s1 to fp8_s3 and fp8_r1 to fp8_r3 written with torch."""

import torch
from torch import Tensor

from conformance.case import Arg, Case, Shape, stat, tensor, variant
from conformance.runner import DTYPES

LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}
STEP = {"differences": "a rounding is a step function", "chain": "a rounding is a step function"}


def quantized(shape: Shape, fmt: str, scale: str) -> str:
    """The IR's name of a quantized type."""
    extents = "x".join("?" if d == "M" else str(d) for d in shape)
    return f"!fuseops.quantized<{extents}x{fmt}, scale = {scale}, copies = row>"


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


class _Through(torch.autograd.Function):
    """Another value with the argument's gradient."""

    @staticmethod
    def forward(context: object, x: Tensor, value: Tensor) -> Tensor:
        return value.to(x.dtype)

    @staticmethod
    def backward(context: object, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def per_row(op: str, fmt: str) -> None:
    """There and back, with a scale a row."""

    @variant(f"fuseops.{op}", f"per_row {fmt}", min_rank=2, max_rank=2, excluded=STEP)
    def build(shape: Shape, dtype: str) -> Case:
        t, q = tensor(shape, dtype), quantized(shape, fmt, "per_row")
        body = f"%q = fuseops.quantize %a0 : ({t}) -> {q}\n%r0 = fuseops.dequantize %q : {q} -> {t}"

        def oracle(x: Tensor) -> Tensor:
            if x.shape[-1] == 0:
                return x
            given = x.detach()
            scale = fp8_scale(given.abs().amax(-1, keepdim=True), fmt)
            data = fp8_round(given, scale, fmt).double()
            return _Through.apply(x, data * (1.0 / scale).double())

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
    per_row("quantize", _fmt)
    per_tensor("quantize", _fmt)
    per_row("dequantize", _fmt)
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
