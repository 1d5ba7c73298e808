# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options and environment variables, all of them.

FUSEOPS_LIBRARY_PATH: the folder of libfuseops_compiler and libfuseops_runtime,
    else that of the package, else the checkout's build/dev/lib or build/release/lib.
FUSEOPS_REPRODUCER_PATH: where sources of failed compilations are written, else
    the folder for temporary files.
FUSEOPS_SCHEDULES: the file of measured schedules (docs/Tuning.md) of compilations
    that name none.
FUSEOPS_CACHE_DIR: the folder of the compile cache, else $XDG_CACHE_HOME/fuseops,
    else ~/.cache/fuseops.
FUSEOPS_CACHE: 0 turns the compile cache off.
FUSEOPS_CACHE_LIMIT_MIB: how large the compile cache may become, 2048 MiB if not
    given.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fuseops.errors import FuseOpsError


@dataclass(frozen=True)
class CompileOptions:
    """How to compile; the same words as fuse-compile's options."""

    target: str = "cpu"
    recipe: str = "none"
    entry: str | None = None
    prepare: bool = False
    schedules: str | None = None


def schedules_file(chosen: str | os.PathLike[str] | None) -> str | None:
    """The file of measured schedules: that of the caller, else the environment's."""
    return (os.environ.get("FUSEOPS_SCHEDULES") or None) if chosen is None else os.fspath(chosen)


def library_folders() -> list[Path]:
    """Where the shared libraries may be, best first."""
    here = Path(__file__).resolve().parent
    build = here.parents[1] / "build"
    folders = [here / "lib", build / "dev" / "lib", build / "release" / "lib"]
    chosen = os.environ.get("FUSEOPS_LIBRARY_PATH")
    return [Path(chosen), *folders] if chosen else folders


def find_library(name: str) -> Path:
    """The file of a shared library, from the first folder that has it."""
    tried = [folder / f"lib{name}.so" for folder in library_folders()]
    for path in tried:
        if path.exists():
            return path
    raise FuseOpsError(f"cannot find lib{name}.so; tried {', '.join(map(str, tried))}")


def package_folders() -> list[Path]:
    """The folders of this Python's packages, some of which hold CUDA's tools."""
    names = ("site-packages", "dist-packages")
    return [Path(folder) for folder in sys.path if os.path.basename(folder) in names]


def toolkit_folders() -> list[Path]:
    """Where CUDA's tools are on this machine, as the compiler looks for them."""
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    folders = [Path(home) for home in homes if home]
    folders += [site / name for site in package_folders() for name in ("nvidia", "triton")]
    return [folder.resolve() for folder in folders if folder.exists()]


def c_flags() -> list[str]:
    """What a C compiler needs to build a program on the runtime's C ABI
    (FuseOps-c/Runtime.h)."""
    here = Path(__file__).resolve().parent
    packaged = here / "include"
    include = packaged if packaged.is_dir() else here.parents[1] / "include"
    folder = find_library("fuseops_runtime").parent
    return [f"-I{include}", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lfuseops_runtime"]


def reproducer_folder() -> Path:
    """Where the source of a failed compilation goes."""
    return Path(os.environ.get("FUSEOPS_REPRODUCER_PATH") or tempfile.gettempdir())


def cache_folder() -> Path:
    """Where compiled programs are kept."""
    chosen = os.environ.get("FUSEOPS_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification says to ignore a relative path.
    return Path(base if os.path.isabs(base) else os.path.expanduser("~/.cache")) / "fuseops"


def is_cache_on() -> bool:
    """Whether compiled programs are kept; not for users without a home."""
    return os.environ.get("FUSEOPS_CACHE") != "0" and cache_folder().is_absolute()


def cache_limit() -> int:
    """How many bytes of compiled programs are kept."""
    text = os.environ.get("FUSEOPS_CACHE_LIMIT_MIB") or "2048"
    try:
        return int(float(text) * 2**20)
    except (OverflowError, ValueError):
        raise FuseOpsError(
            f"expected a number of MiB in `FUSEOPS_CACHE_LIMIT_MIB`, but got `{text}`"
        ) from None
