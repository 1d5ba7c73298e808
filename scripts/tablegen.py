# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the records of the project's .td files through llvm-tblgen.

Asking TableGen itself, and not a regular expression, sees what classes and
multiclasses contribute to an op or a pass.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

LLVM_BIN = Path(os.environ.get("LLVM_BIN", "/usr/lib/llvm-22/bin"))
MLIR_INCLUDE = Path(os.environ.get("MLIR_INCLUDE", LLVM_BIN.parent / "include"))


@dataclass(frozen=True)
class Example:
    """One ```mlir block: where it stands and its text."""

    path: Path
    line: int
    owner: str
    text: str


@functools.cache
def records(root: Path, td: Path) -> dict:
    """All records of one .td file, as llvm-tblgen's JSON has them."""
    command = [
        LLVM_BIN / "llvm-tblgen",
        "--dump-json",
        f"-I{root / 'include'}",
        f"-I{MLIR_INCLUDE}",
        f"-I{td.parent}",
        td,
    ]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"llvm-tblgen failed on {td}:\n{run.stderr}")
    return json.loads(run.stdout)


def instances(root: Path, td: Path, base: str) -> list[dict]:
    """The definitions in a .td file that derive from the class `base`."""
    dump = records(root, td)
    return [dump[name] for name in dump["!instanceof"].get(base, [])]


def root_files(root: Path) -> list[Path]:
    """The .td files that no other .td file of the project includes."""
    files = sorted((root / "include").rglob("*.td"))
    included = set()
    for path in files:
        for name in re.findall(r'^include "([^"]+)"', path.read_text(), re.M):
            included.add((path.parent / name).resolve())
            included.add((root / "include" / name).resolve())
    return [path for path in files if path.resolve() not in included]


def definition(root: Path, name: str) -> tuple[Path, int]:
    """The file and line that define a record."""
    pattern = re.compile(rf"^\s*def\s+{re.escape(name)}\b", re.M)
    for path in sorted((root / "include").rglob("*.td")):
        match = pattern.search(path.read_text())
        if match:
            return path, path.read_text().count("\n", 0, match.start()) + 1
    # A record that a multiclass made has no line of its own.
    return root / "include", 1


def fuseops_ops(root: Path) -> list[dict]:
    """The ops of the `fuseops` dialect."""
    ops = {}
    for td in root_files(root):
        for op in instances(root, td, "Op"):
            dialect = records(root, td)[op["opDialect"]["def"]]
            if dialect.get("name") == "fuseops":
                ops[op["!name"]] = op
    return list(ops.values())


def passes(root: Path) -> list[tuple[Path, dict]]:
    """The passes of the project with the file that defines each."""
    found = {}
    for td in root_files(root):
        for record in instances(root, td, "PassBase"):
            found[record["!name"]] = (td, record)
    return list(found.values())


def mlir_blocks(text: str) -> list[tuple[int, str]]:
    """The ```mlir blocks of a text, each with the line it starts on."""
    blocks = []
    for match in re.finditer(r"^([ \t]*)```mlir[ \t]*\n(.*?)^[ \t]*```", text, re.M | re.S):
        indent = len(match[1])
        body = "\n".join(
            line[indent:] if line[:indent].isspace() else line for line in match[2].splitlines()
        )
        blocks.append((text.count("\n", 0, match.start()) + 1, body + "\n"))
    return blocks


def examples(root: Path) -> list[Example]:
    """Every ```mlir block of the .td files' descriptions and of the docs."""
    found = []
    owners = [(op["!name"], op.get("description") or "") for op in fuseops_ops(root)]
    for td in root_files(root):
        for base in ("TypeDef", "AttrDef", "PassBase"):
            for record in instances(root, td, base):
                owners.append((record["!name"], record.get("description") or ""))
    for name, description in dict(owners).items():
        path, line = definition(root, name)
        if not path.is_file():
            continue  # Included from upstream, which tests its own.
        for _, text in mlir_blocks(description):
            found.append(Example(path, line, name, text))
    docs = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    docs += sorted((root / "docs" / "Dialect").glob("*.md"))
    for path in docs:
        if path.exists():
            for line, text in mlir_blocks(path.read_text()):
                found.append(Example(path, line, path.stem, text))
    return found
