# Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts every torch-dialect file that a pattern matches, with fuse-opt.

usage: convert_fixtures.py PATTERN...

Each file converts, nothing of torch is left, and all forms of a program (pretty,
generic, with locations) convert to the same. A pattern may match no file, but
not all of them.
"""

from __future__ import annotations

import glob
import re
import subprocess
import sys


def convert(path: str) -> str:
    """The converted program; exits where there is none."""
    command = ["fuse-opt", "--convert-torch-to-fuseops", path]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or "torch." in done.stdout or "fuseops.fusible" not in done.stdout:
        sys.exit(f"{path}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
    return done.stdout


def main() -> int:
    files = sorted({path for pattern in sys.argv[1:] for path in glob.glob(pattern)})
    programs: dict[str, str] = {}
    for path in files:
        converted = convert(path)
        key = re.sub(r"\.generic|\.loc", "", path)
        if programs.setdefault(key, converted) != converted:
            sys.exit(f"{path}: converts to another program than {key}")
    print(f"{len(files)} files, {len(programs)} programs")
    return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
