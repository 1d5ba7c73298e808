# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of which value an amax is, and what NaN, infinities and emptiness do to it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conformance import runner

from fp8.programs import DTYPES, TARGET, patterns, to_torch


def amax_text(dtype: str, stores: bool) -> str:
    """The amax of a product that is stored too, or not."""
    tensor = f"tensor<?x100x{dtype}>"
    results, values = (f"{tensor}, tensor<f32>", "%y, %a") if stores else ("tensor<f32>", "%a")
    return f"""fuseops.fusible @main(%x: {tensor}) -> ({results})
    attributes {{frozen_results = array<i64: {"0, 1" if stores else "0"}>}} forward {{
      %y = fuseops.scale %x by(1.1) : {tensor}
      %a = fuseops.amax %y : {tensor} -> tensor<f32>
      fuseops.return {values} : {results}
    }}"""


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_fp8_a1_of_what_is_stored(dtype: str):
    for seed in range(5):
        x = patterns((77, 100), dtype, seed)["normal"]
        product = np.abs(x * np.float32(1.1))
        y, amax = runner.compile_ir(amax_text(dtype, True), TARGET).forward(to_torch(x, dtype))[0]
        assert amax == np.max(product.astype(DTYPES[dtype]).astype(np.float32))
        assert amax == y.float().abs().max()
        # What stays in the kernel is not rounded.
        (amax,), _ = runner.compile_ir(amax_text(dtype, False), TARGET).forward(to_torch(x, dtype))
        assert amax == np.max(product)


@pytest.mark.parametrize("dtype", DTYPES)
def test_fp8_a2_a3_nan_infinity_and_nothing(dtype: str):
    program = runner.compile_ir(amax_text(dtype, True), TARGET)
    found = patterns((300, 100), dtype, seed=1)
    for name, expected in (("nan", np.nan), ("inf", np.inf), ("zero", 0.0)):
        (_, amax), _ = program.forward(to_torch(found[name], dtype))
        assert np.array_equal(amax.cpu().numpy(), np.float32(expected), equal_nan=True), name
    (_, amax), _ = program.forward(torch.empty(0, 100))
    assert amax == 0
