# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options and environment variables, all of them.

FUSEOPS_LIBRARY_PATH: the folder of libfuseops_compiler and libfuseops_runtime,
    else that of the package, else the repository's build/dev/lib.
FUSEOPS_REPRODUCER_PATH: where sources of failed compilations are written, else
    the folder for temporary files.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CompileOptions:
    """How to compile; the same words as fuse-compile's options."""

    target: str = "cpu"
    recipe: str = "none"
    entry: str | None = None


def library_folders() -> list[Path]:
    """Where the shared libraries may be, best first."""
    here = Path(__file__).resolve().parent
    folders = [here / "lib", here.parents[1] / "build" / "dev" / "lib"]
    chosen = os.environ.get("FUSEOPS_LIBRARY_PATH")
    return [Path(chosen), *folders] if chosen else folders


def reproducer_folder() -> Path:
    """Where the source of a failed compilation goes."""
    return Path(os.environ.get("FUSEOPS_REPRODUCER_PATH") or tempfile.gettempdir())
