# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PTX instructions compute, on registers that are arrays of 64-bit numbers, one
for each thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

U64 = np.uint64
MASK = {bits: U64((1 << bits) - 1) for bits in (8, 16, 32, 64)}


def to_float(bits: np.ndarray) -> np.ndarray:
    return (bits & MASK[32]).astype(np.uint32).view(np.float32)


def to_bits(value: np.ndarray) -> np.ndarray:
    return np.asarray(value, np.float32).view(np.uint32).astype(U64)


def to_signed(bits: np.ndarray, width: int) -> np.ndarray:
    return bits.view(np.int64) if width == 64 else bits.astype(np.uint32).view(np.int32).astype(int)


def sign_extend(bits: np.ndarray, width: int) -> np.ndarray:
    return to_signed(bits, width).astype(np.int64).view(U64)


def round_to_fp8(value: np.ndarray, fraction: int, bias: int, largest: float) -> np.ndarray:
    """To the nearest FP8 number, of two the even one; past `largest` to that."""
    codes = np.arange(128)
    exponents, fractions = codes >> fraction, (codes & ((1 << fraction) - 1)) / (1 << fraction)
    numbers = np.where(exponents > 0, 1 + fractions, fractions * 2.0)
    numbers = numbers * 2.0 ** (exponents - bias)
    numbers = numbers[numbers <= largest]
    middles = (numbers[1:] + numbers[:-1]) / 2
    size = np.minimum(np.abs(value.astype(float)), largest)
    below, above = np.searchsorted(middles, size, "left"), np.searchsorted(middles, size, "right")
    code = np.where(below % 2 == 0, below, above) | np.signbit(value) << 7
    return np.where(np.isnan(value), 0x7F, code).astype(U64)


FP8: dict[str, tuple[int, int, float]] = {"e4m3x2": (3, 7, 448.0), "e5m2x2": (2, 15, 57344.0)}


def permute_bytes(inputs: list[np.ndarray]) -> np.ndarray:
    both = (inputs[0] & MASK[32]) | inputs[1] << U64(32)
    result = np.zeros_like(both)
    for i in range(4):
        choice = (inputs[2] >> U64(4 * i)) & U64(15)
        if (choice > 7).any():
            raise NotImplementedError("prmt with signs")
        result |= ((both >> choice * U64(8)) & MASK[8]) << U64(8 * i)
    return result


def round_to_bf16(value: np.ndarray) -> np.ndarray:
    bits = to_bits(value)
    rounded = (bits + U64(0x7FFF) + ((bits >> U64(16)) & U64(1))) >> U64(16)
    return np.where(np.isnan(value), U64(0x7FFF), rounded) & MASK[16]


def fma(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return x.astype(float) * y.astype(float) + z.astype(float)


FLOATS: dict[str, Callable] = {
    "mul": np.multiply,
    "add": np.add,
    "sub": np.subtract,
    "div": np.divide,
    "fma": fma,
    "neg": np.negative,
    "abs": np.abs,
    "max": np.maximum,
    "min": np.minimum,
    "ex2": np.exp2,
    "rcp": np.reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x.astype(float)),
}
INTEGERS: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mad": lambda a, b, c: a * b + c,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "min": np.minimum,
    "max": np.maximum,
    "rem": np.remainder,
    "div": np.floor_divide,
}
COMPARISONS: dict[str, Callable] = {
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "eq": np.equal,
    "ne": np.not_equal,
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
