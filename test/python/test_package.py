# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `import fuseops` gives, and what it does not import."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import fuseops
import pytest
from conftest import ROOT


def loaded_after(statement: str) -> set[str]:
    """The packages that a statement imports, in a process of its own."""
    script = f"import sys\n{statement}\nprint(*{{m.split('.')[0] for m in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import fuseops",
        "import fuseops; dir(fuseops); fuseops.__all__",
        "import fuseops; fuseops.FuseOpsError; fuseops.cache.info()",
        "import fuseops; fuseops.compile_ir; fuseops.Program",
    ],
)
def test_import_needs_neither_torch_nor_numpy(statement: str):
    assert loaded_after(statement) & {"torch", "numpy", "torch_mlir"} == set()


@pytest.mark.parametrize("name", fuseops.__all__)
def test_public_name(name: str):
    if name in ("explain", "nn", "torch", "torch_mlir", "use_aten"):
        pytest.importorskip("torch")
    value = getattr(fuseops, name)
    assert name in dir(fuseops)
    if not isinstance(value, type(fuseops)):
        assert value is getattr(import_module(value.__module__), name)


def test_name_that_is_not_there():
    with pytest.raises(AttributeError, match="`fuseops` has no attribute `compile`"):
        fuseops.compile  # noqa: B018
