# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite objects to every program with a fault."""

import pytest
import torch

from conformance.mutations import MUTANTS, Mutant, judge


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_mutant_is_caught(mutant: Mutant):
    torch.set_num_threads(1)
    caught, why = judge(mutant)
    assert caught, why


def test_there_are_enough():
    assert len(MUTANTS) >= 20
    assert len({m.kind for m in MUTANTS}) >= 8
