# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a report of a block under recipe `block`: which kernels only quantize."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

QUANTIZED = ("f8E4M3FN", "f8E5M2")


def total(sizes: Iterable[list[int]]) -> int:
    """The constant bytes of all; the program has no `?`."""
    return sum(size[0] for size in sizes)


def check(entry: dict, standalone: list[list[str]]) -> None:
    """Prints the entry's traffic, and its kernels that only quantize."""
    dtypes = {tensor["name"]: tensor["dtype"] for tensor in entry["tensors"]}
    kernels = [kernel for kernel in entry["kernels"] if kernel["template"] != "library"]
    writers = [k for k in kernels if any(dtypes[name] in QUANTIZED for name in k["writes"])]
    moved = total(kernel["bytes"] for kernel in entry["kernels"])
    floor, unfused = total([entry["floor_bytes"]]), total([entry["unfused_bytes"]])
    assert floor <= moved < unfused, (floor, moved, unfused)
    print(f"{entry['name']}: {len(entry['kernels'])} kernels, {len(writers)} write FP8")
    print(f"  bytes {moved}, floor {floor}, op by op {unfused}: {unfused / moved:.1f} times more")
    for kernel in writers:
        if kernel["members"] in standalone:
            print(f"  only quantizes: {' '.join(kernel['reads'])}")


def main() -> None:
    report, alone = (json.loads(Path(path).read_text()) for path in sys.argv[1:])
    # What a program that only quantizes has for members.
    standalone = [kernel["members"] for entry in alone["entries"] for kernel in entry["kernels"]]
    for entry in report["entries"]:
        check(entry, standalone)


main()
