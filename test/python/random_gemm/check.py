# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the cases of some seeds with f64 on a GPU.

    python -m random_gemm.check [--small] SEED…

Outputs are poisoned and lie between guards. Prints a line for each: `ok SEED RATIO`, the
difference as a part of what it may be, or `FAIL SEED: …`. A fault of the device ends the
process; the seeds that have no line then are not judged. Exit status: 1 where one failed.
"""

from __future__ import annotations

import argparse
import sys

import torch
from conformance import runner
from fuseops import FuseOpsError
from gemm_case import Case, split

from random_gemm.draw import draw_case

SMALL = (150, 200, 300)
DTYPES = {
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "i64": torch.int64,
}


def check(case: Case, seed: int) -> tuple[float, str]:
    """The largest ratio of a difference to its bound, and what is wrong, if anything."""
    program = runner.compile_ir(case.program(), "cuda")
    given = case.draw(seed)
    tensors = []
    for data, kind in zip(given, case.inputs.values(), strict=True):
        shape, element = split(kind, case.rows)
        tensors.append(torch.from_numpy(data).view(DTYPES[element]).reshape(shape))
    worst, faults = 0.0, []
    found = program.run_forward(tensors)
    for name, output, expected in zip(case.outputs, found, case.expect(given), strict=True):
        ratio = expected.ratio(output.cpu().double().numpy())
        # A NaN is no less than the bound.
        if not ratio <= 1:
            faults.append(f"%{name} is {ratio:.3g} of the bound off")
        worst = max(worst, ratio)
    return worst, ", ".join(faults)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small extents")
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    options = parser.parse_args()
    failed = False
    for seed in options.seeds:
        case = draw_case(seed, SMALL) if options.small else draw_case(seed)
        try:
            ratio, fault = check(case, seed)
        except (AssertionError, FuseOpsError) as error:
            ratio, fault = 0.0, str(error)
        if fault:
            failed = True
            print(f"FAIL {seed}: {fault}\n{case.rows} rows{case.program()}", flush=True)
        else:
            print(f"ok {seed} {ratio:.3f}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
