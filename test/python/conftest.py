# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of scripts and tools share."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "dev" / "bin"
# Tests are of the compiler, not of what it compiled before.
os.environ["FUSEOPS_CACHE"] = "0"
os.environ.pop("FUSEOPS_SCHEDULES", None)


@pytest.fixture(autouse=True)
def tools_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the built tools before all others."""
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
