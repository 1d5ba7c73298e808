# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No operation without an entry."""

import tablegen
from conftest import BIN, ROOT

from conformance import coverage


def test_every_operation_of_the_dialect_has_an_entry():
    mnemonics = (op["opName"] for op in tablegen.fuseops_ops(ROOT))
    assert coverage.missing_operations(mnemonics) == []


def test_every_torch_operation_has_an_entry():
    """Or is named in ELSEWHERE, which says what runs it, and which names nothing else."""
    claimed = coverage.claimed_operations(BIN / "fuse-opt")
    named = coverage.torch_operations()
    assert sorted(claimed - named - set(coverage.ELSEWHERE)) == []
    assert sorted(set(coverage.ELSEWHERE) - claimed) == []
    assert sorted(set(coverage.ELSEWHERE) & named) == []
