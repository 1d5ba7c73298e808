# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of the dialect and of the torch converter the table covers."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from conformance import table
from conformance.case import Case
from conformance.suite import SHAPES
from conformance.torch_case import TorchCase, operations

# Operations that no entry can have, and what tests them instead.
STRUCTURE = {
    "fusible": "is every program",
    "return": "ends every program",
    "yield": "ends every body",
    "group": "is made by fusion, from every entry",
    "launch": "is made by lowering, from every entry",
    "apply": "test_programs.py: applied fusibles",
    "all_reduce": "is not executed yet: test/Dialect/FuseOps/collectives.mlir",
    "all_gather": "is not executed yet: test/Dialect/FuseOps/collectives.mlir",
    "reduce_scatter": "is not executed yet: test/Dialect/FuseOps/collectives.mlir",
}


def cases(only: str = "") -> Iterator[tuple[str, str, Case]]:
    """One case of each variant."""
    for op, variants in table.TABLE.items():
        if not op.startswith(only):
            continue
        for name, variant in variants.items():
            shape = next(s for s in SHAPES if variant.takes(s))
            yield op, name, variant.build(shape, variant.dtypes[0])


def missing_operations(mnemonics: Iterator[str]) -> list[str]:
    """Operations of the dialect that have no entry."""
    named = {op.removeprefix("fuseops.") for op in table.TABLE}
    return sorted(set(mnemonics) - named - set(STRUCTURE))


def torch_operations() -> set[str]:
    """The aten operations in the programs of the table."""
    found: set[str] = set()
    for _, _, case in cases("aten."):
        if isinstance(case, TorchCase):
            found |= operations(case.graph)
    return {name.removesuffix(".default") for name in found}


def claimed_operations(fuse_opt: Path) -> set[str]:
    """The torch operations that the converter takes."""
    command = [str(fuse_opt), "--list-torch-ops"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.removeprefix("torch.") for line in listed.split()}
