# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/Fp8Training.md shows is so."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fuseops import recipe

ROOT = Path(__file__).resolve().parents[3]
PATH = ROOT / "docs" / "Fp8Training.md"
pytestmark = pytest.mark.skipif(not PATH.exists(), reason="the page is not here")


def blocks(language: str) -> list[str]:
    """The page's blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PATH.read_text(), re.M | re.S)


def test_code(tmp_path: Path) -> None:
    code = "\n".join(blocks("python"))
    # The package isn't installed here.
    code = code.replace('backend="fuseops"', "backend=fuseops_backend")
    code = "from fuseops.torch.backend import fuseops_backend\n" + code
    (tmp_path / "model.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "model.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "FUSEOPS_CACHE": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == blocks("text")[0].splitlines()


def test_fields() -> None:
    _, table = PATH.read_text().split("| recipe | scales | fields |\n")
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (.*) \|$", table, re.M)
    found = {name: re.findall(r"`(\w+)`", fields) for name, fields in rows}
    kinds = recipe.Recipe.__subclasses__()
    expected = {
        kind.__name__: [f.name for f in dataclasses.fields(kind) if f.name != "override"]
        for kind in kinds
    }
    assert found == expected
