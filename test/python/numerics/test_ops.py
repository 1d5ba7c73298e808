# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation, forward and backward, in every dtype, against the f64 oracle."""

import pytest
from cases import Shape, check
from table import TABLE

SIZES = (0, 1, 7, 513)

# Leading dimensions and columns. f32 runs all of them, the other dtypes the first three.
LAYOUTS: list[tuple[Shape, int]] = [
    (("M",), 64),
    (("M",), 100),
    ((2, "M"), 5),
    (("M",), 1),
    (("M",), 3),
    (("M",), 1000),
    ((), 100),
    (("M", 3), 64),
    ((2, 3, 4), 9),
]


def layouts(name: str, dtype: str) -> list[tuple[Shape, int]]:
    """What runs for an operation and a dtype."""
    chosen = LAYOUTS if dtype == "f32" else LAYOUTS[:3]
    if name.startswith("matmul"):
        chosen = [(lead, n) for lead, n in chosen if lead]
    if name.startswith("quantize"):
        chosen = [(lead, n) for lead, n in chosen if lead == ("M",)]
    return chosen


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64"])
@pytest.mark.parametrize("name", TABLE)
def test_cpu(name: str, dtype: str):
    failures = []
    for lead, n in layouts(name, dtype):
        sizes = SIZES if "M" in lead else (1,)
        spec = TABLE[name](lead, n, dtype)
        failures += [f"{(*lead, n)} {f}" for f in check(spec, "cpu", sizes)]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("name", TABLE)
def test_reference(name: str, dtype: str):
    failures = []
    for lead, n in layouts(name, dtype)[:1]:
        failures += check(TABLE[name](lead, n, dtype), "reference", (0, 7, 33))
    assert not failures, "\n".join(failures)
