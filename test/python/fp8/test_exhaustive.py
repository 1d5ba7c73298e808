# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""f32 to FP8 for every 997th bit pattern; scripts/check_fp8_exhaustive does all on a GPU."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from fp8 import rules
from fp8.programs import TARGET
from fp8.rules import FORMATS

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "check_fp8_exhaustive"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("check_fp8_exhaustive", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_fp8_r1_r2_r3_every_997th_f32(script: ModuleType):
    total, found = script.count_mismatches(TARGET, 997)
    assert total == -(-(1 << 32) // 997)
    assert found == dict.fromkeys(FORMATS, 0)


@pytest.mark.parametrize("fmt", FORMATS)
def test_integers_of_the_script_against_ml_dtypes(script: ModuleType, fmt: str):
    """Around every midpoint of neighbours, and numbers of all exponents."""
    finite = np.arange(128, dtype=np.uint8).view(FORMATS[fmt]).astype(np.float32)
    finite = finite[np.isfinite(finite)]
    ties = ((finite[1:] + finite[:-1]) / 2).view(np.uint32)
    near = np.concatenate([ties + np.uint32(d) for d in range(3)] + [ties - np.uint32(1)])
    spread = np.arange(0, 1 << 32, 65537, dtype=np.uint64).astype(np.uint32)
    bits = np.concatenate([near, near | np.uint32(1 << 31), spread])
    got = script.expected(torch.from_numpy(bits.view(np.int32)), fmt).numpy()
    assert np.array_equal(got, rules.codes(bits.view(np.float32), fmt))
