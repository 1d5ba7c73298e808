# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No operation without an entry."""

import tablegen
from conftest import BIN, ROOT

from conformance import coverage


def test_every_operation_of_the_dialect_has_an_entry():
    mnemonics = (op["opName"] for op in tablegen.fuseops_ops(ROOT))
    assert coverage.missing_operations(mnemonics) == []


def test_every_claimed_torch_operation_is_run():
    """In a program of the table, or by OpInfo's samples."""
    from opinfo.report import covered_operations

    claimed = coverage.claimed_operations(BIN / "fuse-opt")
    named = coverage.torch_operations() | covered_operations()
    assert sorted(claimed - named) == []
