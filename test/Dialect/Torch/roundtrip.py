# Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads every torch-dialect file below the given folders and prints it again.

usage: roundtrip.py [--tool FUSE_OPT] [--cut] FOLDER...

Each file parses; what is printed parses and prints the same, also by way of the
generic form; and a file prints as its `.generic` twin does. With `--cut` each
file is also cut off after each of its lines and in the middle of them: that may
be an error, but not a crash. A folder that doesn't exist is passed over.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from pathlib import Path

SEPARATOR = "\n// -----\n"


def run(tool: str, texts: list[str], *options: str) -> tuple[int, str, str]:
    """Exit code, output and messages of the tool on texts, read one by one."""
    command = [tool, "--split-input-file", *options, "-"]
    done = subprocess.run(command, input=SEPARATOR.join(texts), capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def fault_of(tool: str, paths: list[Path]) -> str | None:
    """What is wrong with how the tool reads and prints these files, or None."""
    texts = [path.read_text() for path in paths]
    code, printed, messages = run(tool, texts, "--mlir-print-debuginfo")
    if code:
        return f"doesn't parse\n{messages}"
    code, again, messages = run(tool, [printed], "--mlir-print-debuginfo")
    if code or again != printed:
        return f"what is printed doesn't print the same\n{messages}"
    _, plain, _ = run(tool, texts)
    code, generic, messages = run(tool, texts, "--mlir-print-op-generic")
    if code:
        return f"has no generic form\n{messages}"
    code, again, messages = run(tool, [generic])
    if code or again != plain:
        return f"the generic form doesn't print the same\n{messages}"
    twins = [path.with_name(path.name.replace(".generic", "")) for path in paths]
    if not all(twin.exists() for twin in twins):
        return None
    if run(tool, [twin.read_text() for twin in twins])[1] != plain:
        return "doesn't print as the pretty form does"
    return None


def cut_fault_of(tool: str, path: Path) -> str | None:
    """Cuts a file off all over; the tool may fail on what is left, not crash."""
    text = path.read_text()
    places = [i for i, character in enumerate(text) if character == "\n"]
    middles = [(a + b) // 2 for a, b in itertools.pairwise(places)]
    for cuts in (places[:-1], middles):
        code, _, messages = run(tool, [text[:place] for place in cuts])
        if code not in (0, 1):
            return f"cut off somewhere: exit code {code}\n{messages[-2000:]}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", default="fuse-opt")
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    files = [
        path
        for folder in options.folders
        for path in sorted(folder.rglob("*.mlir"))
        if ".linalg." not in path.name
    ]
    faults = {}
    # All at once, and one by one to name the file where that fails.
    for is_generic in (False, True):
        batch = [path for path in files if (".generic" in path.name) == is_generic]
        if not batch or not (together := fault_of(options.tool, batch)):
            continue
        alone = {path: fault for path in batch if (fault := fault_of(options.tool, [path]))}
        faults |= alone or {batch[0]: together}
    if options.cut:
        for path in files:
            if fault := cut_fault_of(options.tool, path):
                faults[path] = fault
    for path, fault in faults.items():
        print(f"{path}: {fault}")
    print(f"{len(files)} files, {len(faults)} faults")
    return int(bool(faults) or not files)


if __name__ == "__main__":
    sys.exit(main())
