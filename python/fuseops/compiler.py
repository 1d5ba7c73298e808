# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From IR text to a program."""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path

from fuseops import _capi
from fuseops.errors import FuseOpsError
from fuseops.options import CompileOptions, reproducer_folder
from fuseops.program import Program


def _read(source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """The text and what diagnostics call it. One line that names a file is one."""
    text = os.fspath(source)
    if isinstance(source, os.PathLike) or ("\n" not in text and Path(text).is_file()):
        try:
            return Path(text).read_bytes(), text
        except OSError as error:
            raise FuseOpsError(f"cannot read {text}: {error.strerror}") from error
    return text.encode(), "source"


def _fail(data: bytes, diagnostics: str, emitted: str, options: CompileOptions) -> FuseOpsError:
    name = f"fuseops-{hashlib.sha256(data).hexdigest()[:12]}.mlir"
    reproducer: Path | None = reproducer_folder() / name
    command = ""
    try:
        reproducer.write_bytes(data)
        words = ["fuse-compile", str(reproducer), f"--target={options.target}"]
        words += [f"--recipe={options.recipe}", f"--emit={emitted}"]
        words += [f"--entry={options.entry}"] if options.entry else []
        command = shlex.join(words)
    except OSError:
        reproducer = None
    message = diagnostics.strip()
    if command:
        message += f"\nto repeat it: {command}"
    return FuseOpsError(message, diagnostics, reproducer, command)


def emit(
    source: str | os.PathLike[str],
    kind: str = "program",
    *,
    target: str = "cpu",
    recipe: str = "none",
    entry: str | None = None,
    compile_to: str | None = None,
) -> bytes:
    """Compiles IR, text or a path, to a program file, `report`, `ptx`, `cubin`,
    `obj` or, up to the phase `compile_to`, `ir`."""
    options = CompileOptions(target, recipe, entry)
    data, name = _read(source)
    output, diagnostics = _capi.compile_source(
        data, name, target=target, recipe=recipe, entry=entry, emit=kind, compile_to=compile_to
    )
    if output is None:
        raise _fail(data, diagnostics, kind, options)
    return output


def compile_ir(
    source: str | os.PathLike[str],
    *,
    target: str = "cpu",
    recipe: str = "none",
    entry: str | None = None,
) -> Program:
    """Compiles IR of FuseOps or torch-mlir, text or a path, and loads it."""
    return Program(emit(source, target=target, recipe=recipe, entry=entry))
