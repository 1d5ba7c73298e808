# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PTX instructions compute, on registers that are arrays of 64-bit numbers, one
for each thread."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import numpy as np

U64 = np.uint64
MASK = {bits: U64((1 << bits) - 1) for bits in (1, 8, 16, 32, 64)}
Bits = np.ndarray
Function = Callable[..., Bits]


def to_float(bits: Bits) -> np.ndarray:
    """The lower halves, where they are."""
    return bits.view(np.float32)[..., ::2]


def to_bits(value: np.ndarray) -> Bits:
    return np.asarray(value, np.float32).view(np.uint32).astype(U64)


def to_signed(bits: Bits, width: int) -> np.ndarray:
    """The lowest bits as a signed number."""
    if width == 64:
        return bits.view(np.int64)
    return (bits & MASK[width]).astype(f"u{width // 8}").view(f"i{width // 8}").astype(np.int64)


def to_integer(bits: Bits, kind: str) -> np.ndarray:
    width = int(kind[1:])
    return to_signed(bits, width) if kind[0] == "s" else bits & MASK[width]


# Numbers of 8 bits


FP8: dict[str, tuple[int, int, float]] = {"e4m3": (3, 7, 448.0), "e5m2": (2, 15, 57344.0)}
"""Bits of the fraction, bias of the exponent, largest number."""


@functools.cache
def list_fp8(kind: str) -> np.ndarray:
    """What each code of 8 bits is."""
    fraction, bias, largest = FP8[kind]
    codes = np.arange(128)
    exponents, fractions = codes >> fraction, (codes & ((1 << fraction) - 1)) / (1 << fraction)
    numbers = np.where(exponents > 0, 1 + fractions, fractions * 2.0)
    numbers = numbers * 2.0 ** (exponents - bias)
    infinities = (numbers > largest) & (fractions == 0) & (kind == "e5m2")
    numbers[numbers > largest] = np.nan
    numbers[infinities] = np.inf
    return np.concatenate([numbers, -numbers])


@functools.cache
def list_middles(kind: str) -> np.ndarray:
    """Between neighbours of the finite FP8 numbers that are not negative."""
    numbers = list_fp8(kind)[:128]
    numbers = numbers[np.isfinite(numbers)]
    return (numbers[1:] + numbers[:-1]) / 2


def round_to_fp8(value: np.ndarray, kind: str) -> Bits:
    """To the nearest FP8 number, of two the even one; past the largest to that."""
    size = np.minimum(np.abs(value.astype(float)), FP8[kind][2])
    below, above = (np.searchsorted(list_middles(kind), size, side) for side in ("left", "right"))
    code = np.where(below % 2 == 0, below, above) | np.signbit(value) << 7
    return np.where(np.isnan(value), 0x7F, code).astype(U64)


# Floats of each type


def round_to_bf16(value: np.ndarray) -> Bits:
    bits = to_bits(value)
    rounded = (bits + U64(0x7FFF) + ((bits >> U64(16)) & U64(1))) >> U64(16)
    return np.where(np.isnan(value), U64(0x7FFF), rounded) & MASK[16]


def read_f16(bits: Bits) -> np.ndarray:
    return (bits & MASK[16]).astype(np.uint16).view(np.float16).astype(np.float32)


def round_to_f16(value: np.ndarray) -> Bits:
    bits = np.asarray(value, np.float32).astype(np.float16).view(np.uint16).astype(U64)
    return np.where(np.isnan(value), U64(0x7FFF), bits)


READ: dict[str, Callable[[Bits], np.ndarray]] = {
    "f32": to_float,
    "f64": lambda bits: bits.view(np.float64),
    "f16": read_f16,
    "bf16": lambda bits: to_float(bits << U64(16)),
    "tf32": lambda bits: to_float(bits & U64(0xFFFFE000)),
    "e4m3": lambda bits: list_fp8("e4m3")[(bits & MASK[8]).astype(int)],
    "e5m2": lambda bits: list_fp8("e5m2")[(bits & MASK[8]).astype(int)],
}
ROUND: dict[str, Callable[[np.ndarray], Bits]] = {
    "f32": to_bits,
    "f64": lambda value: np.asarray(value, float).view(U64),
    "f16": round_to_f16,
    "bf16": round_to_bf16,
    "tf32": lambda value: (to_bits(value) + U64(0x1000)) & U64(0xFFFFE000),
    "e4m3": lambda value: round_to_fp8(value, "e4m3"),
    "e5m2": lambda value: round_to_fp8(value, "e5m2"),
}
HALF = {"f16x2": ("f16", 16), "bf16x2": ("bf16", 16), "e4m3x2": ("e4m3", 8), "e5m2x2": ("e5m2", 8)}


def is_float(kind: str) -> bool:
    return kind in READ or kind in HALF


def read_floats(kind: str, bits: Bits) -> np.ndarray:
    """The numbers in registers: of pairs the low ones, then the high ones."""
    if kind in READ:
        return READ[kind](bits)
    half, width = HALF[kind]
    return np.stack([READ[half](bits), READ[half](bits >> U64(width))])


def round_floats(kind: str, value: np.ndarray) -> Bits:
    if kind in ROUND:
        return ROUND[kind](value)
    half, width = HALF[kind]
    low, high = (ROUND[half](part) for part in value)
    return high << U64(width) | low


# What operations do


def fma(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return x.astype(float) * y.astype(float) + z.astype(float)


FLOATS: dict[str, Callable] = {
    "mul": np.multiply,
    "add": np.add,
    "sub": np.subtract,
    "div": np.divide,
    "fma": fma,
    "max": np.fmax,
    "min": np.fmin,
    "ex2": np.exp2,
    "lg2": np.log2,
    "rcp": np.reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x.astype(float)),
    "tanh": np.tanh,
}
SIGNS = {"f32": 1 << 31, "f64": 1 << 63, "f16": 1 << 15, "f16x2": 0x80008000}
SIGNS |= {"bf16": 1 << 15, "bf16x2": 0x80008000}


def quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Towards zero; what x / 0 is, is not defined."""
    y = np.where(y == 0, 1, y)
    if x.dtype == U64:
        return x // y
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))


def remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x - quotient(x, y) * y


INTEGERS: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
    "rem": remainder,
    "div": quotient,
    "neg": np.negative,
    "abs": np.abs,
}
# What numbers are smaller or larger than is said of ordered ones only, `nan` apart.
COMPARISONS: dict[str, Callable] = {
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
    "geu": lambda a, b: ~(a < b),
    "gtu": lambda a, b: ~(a <= b),
    "leu": lambda a, b: ~(a > b),
    "ltu": lambda a, b: ~(a >= b),
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "hs": np.greater_equal,
    "hi": np.greater,
    "ls": np.less_equal,
    "lo": np.less,
}


def compare(parts: list[str]) -> Function:
    kind, comparison = parts[-1], COMPARISONS[parts[0]]
    joined = next((INTEGERS[part] for part in parts[1:-1] if part in ("and", "or", "xor")), None)

    def function(a: Bits, b: Bits, c: Bits | None = None) -> Bits:
        read = read_floats if is_float(kind) else lambda kind, bits: to_integer(bits, kind)
        holds = comparison(read(kind, a), read(kind, b))
        return holds.astype(U64) if joined is None else joined(holds.astype(U64), c)

    return function


def permute_bytes(a: Bits, b: Bits, choices: Bits) -> Bits:
    """Of the bytes of two words, or the sign of one in all its bits."""
    both = (a & MASK[32]) | b << U64(32)
    result = np.zeros_like(both)
    for i in range(4):
        choice = (choices >> U64(4 * i)) & U64(15)
        byte = (both >> (choice & U64(7)) * U64(8)) & MASK[8]
        byte = np.where(choice > 7, (byte >> U64(7)) * MASK[8], byte)
        result |= byte << U64(8 * i)
    return result


def multiply(part: str, kind: str) -> Function:
    """The low or high half of a product, or all of it."""
    width = int(kind[1:])

    def function(a: Bits, b: Bits) -> Bits:
        a, b = (to_integer(x, kind) for x in (a, b))
        if part == "hi" and width == 64:
            pairs = zip(a.tolist(), b.tolist(), strict=True)
            return np.array([((x * y) >> 64) & (2**64 - 1) for x, y in pairs], U64)
        product = a * b
        if part == "hi":
            product >>= product.dtype.type(width)
        return product.view(U64) & MASK[2 * width if part == "wide" else width]

    return function


def multiply_add(part: str, kind: str) -> Function:
    product, width = multiply(part, kind), int(kind[1:]) * (2 if part == "wide" else 1)
    return lambda a, b, c: (product(a, b) + c) & MASK[width]


def extract_field(kind: str) -> Function:
    width = int(kind[1:])

    def function(a: Bits, start: Bits, length: Bits) -> Bits:
        # Shifted up, so that the last bit is on the left, and down again.
        start, length = (np.minimum(x & MASK[8], U64(width)) for x in (start, length))
        above = U64(64) - np.minimum(start + length, U64(width))
        wide = shift("shl", "u64")(to_integer(a, kind).view(U64), above)
        return shift("shr", f"{kind[0]}64")(wide, start + above) & MASK[width]

    return function


def insert_field(kind: str) -> Function:
    width = int(kind[1:])

    def function(a: Bits, b: Bits, start: Bits, length: Bits) -> Bits:
        start, length = (np.minimum(x & MASK[8], U64(width)) for x in (start, length))
        wide = shift("shl", "u64")
        field = wide(wide(np.ones_like(a), length) - U64(1), start)
        return ((b & ~field) | (wide(a, start) & field)) & MASK[width]

    return function


def shift(name: str, kind: str) -> Function:
    """By as many bits as there are or more, nothing but signs is left."""
    width = int(kind[1:])

    def function(a: Bits, count: Bits) -> Bits:
        by = np.minimum(count, U64(63))
        if name == "shr" and kind[0] == "s":
            return (to_signed(a, width) >> by.view(np.int64)).view(U64) & MASK[width]
        result = a << by if name == "shl" else (a & MASK[width]) >> by
        return result & MASK[width] if width < 64 else np.where(count < 64, result, U64(0))

    return function


def convert(parts: list[str]) -> Function:
    """From the last type to the one before."""
    *modes, target, source = parts
    rounding = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
    whole = next((rounding[mode] for mode in modes if mode in rounding), None)

    def function(*inputs: Bits) -> Bits:
        if is_float(source):
            # The first of two becomes the high one of a pair.
            numbers = [read_floats(source, bits) for bits in reversed(inputs)]
            value = np.stack(numbers) if len(numbers) > 1 else numbers[0]
            value = whole(value) if whole else value
        else:
            value = to_integer(inputs[0], source)
        if is_float(target):
            return round_floats(target, value)
        width = int(target[1:])
        if is_float(source):
            low = 0 if target[0] == "u" else -(2 ** (width - 1))
            high = low + 2**width - 1
            numbers = np.nan_to_num(value.astype(float), nan=0.0).tolist()
            whole_numbers = [int(min(max(number, low), high)) & (2**64 - 1) for number in numbers]
            return np.array(whole_numbers, U64) & MASK[width]
        return value.view(U64) & MASK[width]

    return function


@functools.cache
def find_function(operation: str) -> Function:
    """What an instruction makes of its operands' bits."""
    name, *parts = operation.split(".")
    kind = parts[-1] if parts else ""
    if name in ("mov", "cvta"):
        mask = U64(1) if kind == "pred" else MASK[int(re.sub(r"\D", "", kind))]
        return lambda a: a & mask
    if name == "selp":
        mask = MASK[int(re.sub(r"\D", "", kind))]
        return lambda a, b, p: np.where(p.astype(bool), a, b) & mask
    if name == "setp":
        return compare(parts)
    if name == "cvt":
        return convert(parts)
    if name == "prmt":
        return permute_bytes
    if kind == "pred":
        if name == "not":
            return lambda a: a ^ U64(1)
        return INTEGERS[name]
    if is_float(kind):
        return find_float_function(name, parts)
    return find_integer_function(name, parts)


def find_float_function(name: str, parts: list[str]) -> Function:
    kind = parts[-1]
    if name == "abs":
        return lambda a: a & U64(SIGNS[kind] ^ (2**64 - 1))
    if name == "neg":
        return lambda a: a ^ U64(SIGNS[kind])
    function = FLOATS[name]
    if "NaN" in parts:
        function = {"max": np.maximum, "min": np.minimum}[name]
    return lambda *inputs: round_floats(kind, function(*(read_floats(kind, x) for x in inputs)))


def find_integer_function(name: str, parts: list[str]) -> Function:
    kind = parts[-1]
    width = int(kind[1:])
    if name in ("mul", "mad"):
        part = next(part for part in parts if part in ("lo", "hi", "wide"))
        return multiply(part, kind) if name == "mul" else multiply_add(part, kind)
    if name in ("bfe", "bfi"):
        return extract_field(kind) if name == "bfe" else insert_field(kind)
    if name == "not":
        return lambda a: ~a & MASK[width]
    if name in ("shl", "shr"):
        return shift(name, kind)
    function = INTEGERS[name]
    if name not in ("min", "max", "div", "rem", "abs"):
        return lambda *inputs: function(*inputs) & MASK[width]
    return lambda *inputs: function(*(to_integer(x, kind) for x in inputs)).view(U64) & MASK[width]
