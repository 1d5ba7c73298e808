# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a report from standard input and prints each kernel's registers and
spills as the assembler counted them; fails where one spills or has no count."""

import json
import sys


def main() -> int:
    report = json.load(sys.stdin)
    failed = False
    for entry in report["entries"]:
        for kernel in entry["kernels"]:
            if kernel["template"] == "library":
                continue
            registers = kernel.get("registers")
            spills = kernel.get("spill_bytes")
            print(f"{report['arch']} {kernel['name']}: {registers} registers, {spills} spilled")
            failed |= registers is None or spills != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
