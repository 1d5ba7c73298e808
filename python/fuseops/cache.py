# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compile cache on disk: what compiled once is not compiled again.

An entry is a file named by its key, which holds the SHA-256 of the program and
the program. A key covers all that a program depends on: the source text, the
options, the file of schedules, the compiler library, and this machine's CPU or
CUDA assembler. Failed compilations are not entries.

Any number of processes may use one folder. Entries appear whole, by a rename,
and an entry that is damaged is compiled again, with a warning. A folder that
cannot be written is read all the same, with one warning.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from fuseops.options import (
    CompileOptions,
    cache_folder,
    cache_limit,
    find_library,
    is_cache_on,
    toolkit_folders,
)

_ENTRY = re.compile(r"[0-9a-f]{64}\.program")
_TEMPORARY = ".writing-"
# Longer than any writer takes; older files are of processes that were killed.
_ABANDONED_SECONDS = 3600
_HASH_BYTES = 32


@dataclass(frozen=True)
class CacheInfo:
    """What `info` tells; `hits` and `misses` are those of this process."""

    folder: Path
    is_on: bool
    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int


class _Counts:
    """What this process did, under one lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.hits = 0
        self.misses = 0
        # Bytes until the next look at the folder's size; at first at once.
        self.until_eviction = 0
        self.refused: set[Path] = set()


_counts = _Counts()


@cache
def _machine() -> dict[str, str]:
    """What `native` code is chosen by: the first CPU's model and features."""
    facts = {"machine": platform.machine()}
    wanted = {"vendor_id", "cpu family", "model", "stepping", "flags"}
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if not line.strip():
                    break
                name, _, value = line.partition(":")
                if name.strip() in wanted:
                    facts[name.strip()] = value.strip()
    except OSError:
        facts["processor"] = platform.processor()
    return facts


@cache
def _compiler_identity(path: Path) -> str:
    """Names the compiler. Its first page holds the linker's build ID, which is
    a hash of the rest (lib/CAPI/CMakeLists.txt)."""
    with open(path, "rb") as library:
        head = library.read(4096)
    return hashlib.sha256(head).hexdigest()


def entry_key(source: bytes, name: str, options: CompileOptions) -> str:
    """The key of a program: 64 hexadecimal digits. `name` is what diagnostics
    and the report call the source."""
    facts: dict[str, object] = {
        "source": hashlib.sha256(source).hexdigest(),
        "name": name,
        "options": asdict(options),
        "compiler": _compiler_identity(find_library("fuseops_compiler")),
    }
    if options.schedules:
        # Without the file, compiling says what's wrong.
        with suppress(OSError):
            facts["schedules"] = hashlib.sha256(Path(options.schedules).read_bytes()).hexdigest()
    # A target that names its CPU or GPU is the same on every machine, but for
    # the assembler that makes cubins.
    kind, _, arch = options.target.partition(":")
    if kind == "cuda":
        facts["toolkit"] = [str(folder) for folder in toolkit_folders()]
    elif arch in ("", "native"):
        facts["machine"] = _machine()
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def fetch(key: str, compile_program: Callable[[], bytes]) -> bytes:
    """The program of that key, from the cache or else compiled and kept."""
    if not is_cache_on():
        return compile_program()
    path = cache_folder() / key[:2] / f"{key}.program"
    program = _read(path)
    with _counts.lock:
        if program is None:
            _counts.misses += 1
        else:
            _counts.hits += 1
    if program is None:
        program = compile_program()
        _write(path, program)
    return program


def _read(path: Path) -> bytes | None:
    """The program, None where there is none or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    program = data[_HASH_BYTES:]
    if hashlib.sha256(program).digest() != data[:_HASH_BYTES]:
        warnings.warn(f"compiling again: cache entry {path} is damaged", stacklevel=2)
        return None
    with suppress(OSError):  # Read all the same from a folder that cannot be written.
        os.utime(path)  # For eviction, which takes the least recently used.
    return program


def _write(path: Path, program: bytes) -> None:
    """Adds an entry, and keeps the folder within its limit."""
    folder = path.parents[1]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=_TEMPORARY)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(program).digest())
                file.write(program)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        with _counts.lock:
            is_new = folder not in _counts.refused
            _counts.refused.add(folder)
        if is_new:
            reason = error.strerror or error
            warnings.warn(
                f"compiled programs are not kept: cannot write {folder}: {reason}", stacklevel=2
            )
        return
    limit = cache_limit()
    with _counts.lock:
        _counts.until_eviction -= len(program) + _HASH_BYTES
        is_due = _counts.until_eviction < 0
        if is_due:
            # So a process adds no more than that beyond the limit.
            _counts.until_eviction = limit // 16
    if is_due:
        _evict(folder, limit)


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The cache's own files in a folder, entries and temporary ones."""
    try:
        with os.scandir(folder) as parts:
            subfolders = [part.path for part in parts if len(part.name) == 2 and part.is_dir()]
    except OSError:
        return
    for subfolder in subfolders:
        try:
            with os.scandir(subfolder) as files:
                for file in files:
                    if _ENTRY.fullmatch(file.name) or file.name.startswith(_TEMPORARY):
                        yield file
        except OSError:
            continue


def _entries(folder: Path) -> Iterator[tuple[float, int, str]]:
    """Time of last use, size and path of each entry. Removes what writers that
    were killed left."""
    for file in _files(folder):
        try:
            status = file.stat()
            if _ENTRY.fullmatch(file.name):
                yield status.st_mtime, status.st_size, file.path
            elif status.st_mtime < time.time() - _ABANDONED_SECONDS:
                os.unlink(file.path)
        except OSError:
            continue  # Another process removed it.


def _evict(folder: Path, limit: int) -> None:
    """Removes what was used least recently, until nine tenths of the limit."""
    entries = sorted(_entries(folder))
    total = sum(size for _, size, _ in entries)
    if total <= limit:
        return
    for _, size, path in entries:
        if total <= limit * 9 // 10:
            break
        with suppress(OSError):
            os.unlink(path)
        total -= size


def clear() -> None:
    """Removes every entry of the cache folder, and no file of others."""
    for file in _files(cache_folder()):
        with suppress(FileNotFoundError):
            os.unlink(file.path)


def info() -> CacheInfo:
    """Where the cache is, what it holds, and how often it helped."""
    folder = cache_folder()
    sizes = [size for _, size, _ in _entries(folder)]
    return CacheInfo(
        folder=folder,
        is_on=is_cache_on(),
        entries=len(sizes),
        bytes=sum(sizes),
        limit=cache_limit(),
        hits=_counts.hits,
        misses=_counts.misses,
    )
