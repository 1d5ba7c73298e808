# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each ```mlir example of the .td files and the docs through fuse-opt.

An example is a whole program: a module, fusible or function, with the aliases
it needs. What is no program is not marked ```mlir.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import tablegen

ROOT = Path(__file__).resolve().parent.parent
FUSE_OPT = ROOT / "build" / "dev" / "bin" / "fuse-opt"
STARTS = re.compile(r"(?:module|fuseops\.fusible|func\.func|builtin\.module|[#!]\w)")


def check(example: tablegen.Example, fuse_opt: Path = FUSE_OPT) -> str | None:
    """What is wrong with an example; None if it parses and verifies."""
    code = [line for line in example.text.splitlines() if line.strip()]
    code = [line for line in code if not line.lstrip().startswith("//")]
    if not code or not STARTS.match(code[0].lstrip()):
        return "expected a whole program: a module, fuseops.fusible or func.func"
    command = [fuse_opt, "--split-input-file", "--verify-roundtrip", "-"]
    done = subprocess.run(command, input=example.text, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--fuse-opt", type=Path, default=ROOT / "build" / "dev" / "bin" / "fuse-opt"
    )
    options = parser.parse_args()
    failed = 0
    examples = tablegen.examples(ROOT)
    owners = {example.owner for example in examples}
    for op in tablegen.fuseops_ops(ROOT):
        if op["!name"] not in owners:
            path, line = tablegen.definition(ROOT, op["!name"])
            print(f"{path}:{line}: error: `{op['!name']}` has no ```mlir example")
            failed += 1
    for example in examples:
        fault = check(example, options.fuse_opt)
        if fault:
            print(f"{example.path}:{example.line}: error: example of {example.owner}: {fault}")
            failed += 1
    print(f"{len(examples)} examples, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
