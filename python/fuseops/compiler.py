# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From IR text to a program."""

from __future__ import annotations

import hashlib
import os
import shlex
from dataclasses import asdict
from pathlib import Path

from fuseops import _capi, cache
from fuseops.errors import FuseOpsError
from fuseops.options import (
    CompileOptions,
    package_folders,
    reproducer_folder,
    schedules_file,
)
from fuseops.program import Program


def _read(source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """The text and what diagnostics call it. One line that names a file, or
    could, is one."""
    text = os.fspath(source)
    is_name = "\n" not in text and (text.endswith(".mlir") or os.path.isfile(text))
    if is_name or isinstance(source, os.PathLike):
        try:
            return Path(text).read_bytes(), text
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FuseOpsError(f"cannot read `{text}`: {reason}") from error
    try:
        return text.encode(), "source"
    except UnicodeEncodeError as error:
        raise FuseOpsError(f"expected source text in Unicode, but {error.reason}") from error


def _fail(data: bytes, diagnostics: str, emitted: str, options: CompileOptions) -> FuseOpsError:
    name = f"fuseops-{hashlib.sha256(data).hexdigest()[:12]}.mlir"
    reproducer: Path | None = reproducer_folder() / name
    command = ""
    try:
        reproducer.write_bytes(data)
        words = ["fuse-compile", str(reproducer), f"--target={options.target}"]
        words += [f"--recipe={options.recipe}", f"--emit={emitted}"]
        words += [f"--entry={options.entry}"] if options.entry else []
        words += ["--prepare"] if options.prepare else []
        words += [f"--schedules={options.schedules}"] if options.schedules else []
        command = shlex.join(words)
    except OSError:
        reproducer = None
    message = diagnostics.strip()
    if command:
        message += f"\nto repeat it: {command}"
    return FuseOpsError(message, diagnostics, reproducer, command)


def _compile(
    data: bytes, name: str, options: CompileOptions, kind: str, compile_to: str | None = None
) -> bytes:
    output, diagnostics = _capi.compile_source(
        data,
        name,
        **asdict(options),
        emit=kind,
        compile_to=compile_to,
        python_sites=":".join(map(str, package_folders())),
    )
    if output is None:
        raise _fail(data, diagnostics, kind, options)
    return output


def emit(
    source: str | os.PathLike[str],
    kind: str = "program",
    *,
    target: str = "cpu",
    recipe: str = "none",
    entry: str | None = None,
    prepare: bool = False,
    schedules: str | os.PathLike[str] | None = None,
    compile_to: str | None = None,
) -> bytes:
    """Compiles IR, text or the path of a `.mlir` file, to a program file, `report`,
    `ptx`, `cubin`, `obj` or, up to the phase `compile_to`, `ir`. Raises
    FuseOpsError."""
    data, name = _read(source)
    options = CompileOptions(target, recipe, entry, prepare, schedules_file(schedules))
    return _compile(data, name, options, kind, compile_to)


def compile_ir(
    source: str | os.PathLike[str],
    *,
    target: str = "cpu",
    recipe: str = "none",
    entry: str | None = None,
    prepare: bool = False,
    schedules: str | os.PathLike[str] | None = None,
) -> Program:
    """Compiles IR of FuseOps or torch-mlir, text or the path of a `.mlir` file, and
    loads it. With `prepare` the weights of a recipe are quantized in an entry of
    their own, which the report describes. `schedules` is a file that
    `fuse-compile --tune` wrote, by default that of the environment
    (fuseops.options). What was compiled before comes from the cache on disk
    (fuseops.cache). Raises FuseOpsError, and then leaves all as it was."""
    data, name = _read(source)
    options = CompileOptions(target, recipe, entry, prepare, schedules_file(schedules))
    key = cache.entry_key(data, name, options)
    return Program(cache.fetch(key, lambda: _compile(data, name, options, "program")))
