# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values in f64 with the most that a kernel's may differ from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Half an ulp of each type: relative to a value, and at least.
HALF_ULP = {
    "f32": (2.0**-24, 2.0**-150),
    "bf16": (2.0**-8, 2.0**-134),
    "f16": (2.0**-11, 2.0**-25),
    "e4m3": (2.0**-4, 2.0**-10),
    "e5m2": (2.0**-3, 2.0**-17),
}
LIMIT = {"e4m3": 448.0, "e5m2": 57344.0}
# Relative, of one operation on f32 that may be made of several.
OPERATION = 2.0**-20


@dataclass
class Bounded:
    value: np.ndarray
    error: np.ndarray

    @classmethod
    def exact(cls, value: np.ndarray) -> Bounded:
        return cls(value, np.zeros_like(value))

    def rounded(self, kind: str) -> Bounded:
        """To a type, FP8 saturating. It may also have been left as it was."""
        relative, least = HALF_ULP[kind]
        error = self.error + np.maximum(relative * (np.abs(self.value) + self.error), least)
        limit = LIMIT.get(kind, math.inf)
        return Bounded(np.clip(self.value, -limit, limit), error)

    def __add__(self, other: Bounded) -> Bounded:
        value = self.value + other.value
        return Bounded(value, self.error + other.error + OPERATION * np.abs(value))

    def __mul__(self, other: Bounded) -> Bounded:
        value = self.value * other.value
        with np.errstate(invalid="ignore"):
            error = self.error * np.abs(other.value) + np.abs(self.value) * other.error
            error += self.error * other.error + OPERATION * np.abs(value)
        # What is 0 times what may be anything.
        return Bounded(value, np.where(np.isnan(error), np.inf, error))

    def apply(self, function: Callable[[np.ndarray], np.ndarray], slope: float) -> Bounded:
        """A function of f32 whose slope is nowhere more than `slope`."""
        value = function(self.value)
        return Bounded(value, slope * self.error + OPERATION * np.maximum(1, np.abs(value)))

    def sum_of_rows(self) -> Bounded:
        """In f32, in any order."""
        magnitude = (np.abs(self.value) + self.error).sum(0)
        error = self.error.sum(0) + len(self.value) * 2.0**-24 * magnitude
        return Bounded(self.value.sum(0), error)

    def sum_of_columns(self) -> Bounded:
        """Likewise, one for each row."""
        total = self.transposed().sum_of_rows()
        return Bounded(total.value[:, None], total.error[:, None])

    def max_of_blocks(self, width: int) -> Bounded:
        """The largest of each `width` columns; those that are missing count as 0."""
        padding = ((0, 0), (0, -self.value.shape[1] % width))
        parts = (np.pad(array, padding) for array in (self.value, self.error))
        return Bounded(*(part.reshape(len(part), -1, width).max(2) for part in parts))

    def at_least(self, least: float) -> Bounded:
        return Bounded(np.maximum(self.value, np.float32(least)), self.error)

    def inverse(self, factor: float) -> Bounded:
        """`factor` over values above 0."""
        value = factor / self.value
        least = self.value - self.error
        slope = np.where(least > 0, factor / (self.value * np.maximum(least, 1e-300)), np.inf)
        return Bounded(value, slope * self.error + OPERATION * value)

    def columns(self, first: int, last: int) -> Bounded:
        return Bounded(self.value[:, first:last], self.error[:, first:last])

    def repeated(self, count: int) -> Bounded:
        """Each column so many times."""
        return Bounded(self.value.repeat(count, 1), self.error.repeat(count, 1))

    def transposed(self) -> Bounded:
        return Bounded(self.value.T, self.error.T)

    def amax(self) -> Bounded:
        return Bounded(np.abs(self.value).max(), self.error.max())

    def ratio(self, found: np.ndarray) -> float:
        """The largest difference as a part of what it may be; NaN where there is one."""
        # An error of zero allows none.
        return float((np.abs(found - self.value) / np.maximum(self.error, 1e-300)).max())


def multiply(a: np.ndarray, b: np.ndarray, *, is_narrow: bool) -> Bounded:
    """The sums over k of a[m, k] b[n, k] in one accumulator of Hopper's tensor cores. They
    cut each addend of an instruction, of 32 bytes a row, 13 bits below the largest, where
    they add FP8 (DeepSeek-V3, section 3.3.2), and at f32's last bit otherwise: a random
    walk as long as there are instructions. The bound is 8 times its deviation, measured on
    a model that cuts so and agrees with the H200 (gemm-proofs)."""
    depth = 32 if is_narrow else 16
    value = a @ b.T
    size = np.abs(value) + np.sqrt((a * a) @ (b * b).T)
    steps = math.sqrt(max(a.shape[1] / depth, 1))
    return Bounded(value, 8 * steps * 2.0 ** (-13 if is_narrow else -22) * size)


def multiply_promoted(a: np.ndarray, b: np.ndarray) -> Bounded:
    """Each 128 products in such an accumulator, their sums in f32. The errors of the parts
    are independent."""
    parts = [
        multiply(a[:, i : i + 128], b[:, i : i + 128], is_narrow=True)
        for i in range(0, a.shape[1], 128)
    ]
    value = a @ b.T
    cut = np.sqrt(sum(part.error**2 for part in parts))
    magnitude = np.abs(a) @ np.abs(b).T
    return Bounded(value, cut + (len(parts) + 4) * 2.0**-24 * magnitude)
