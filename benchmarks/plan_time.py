#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how long the planner takes for programs of 10 to 1,000 operations.

Two kinds of programs: `layers`, Llama blocks of which contractions cut the
graph, and `random`, elementwise operations, norms and sums that read any of the
last values, so that one part of the graph holds them all. The time is that of
the pass `fuseops-forward-fusion`, of which the planner is nearly all, in wall
clock milliseconds: the least of some runs.

    benchmarks/plan_time.py
    benchmarks/plan_time.py --ops 100 --repeat 20
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MATRIX = "tensor<?x1024xbf16>"
WEIGHT = "tensor<1024x1024xbf16>"
VECTOR = "tensor<1024xbf16>"
COLUMN = "tensor<?x1xf32>"


def wrap(body: list[str], result: str) -> str:
    """A program whose forward region is `body`."""
    lines = "\n".join(f"  {line}" for line in body)
    return (
        f"fuseops.fusible @f(%x: {MATRIX}, %w: {WEIGHT}, %g: {VECTOR}) -> {MATRIX}\n"
        f"forward {{\n{lines}\n  fuseops.return {result} : {MATRIX}\n}}\n"
    )


def norm(number: int, value: str) -> str:
    return (
        f"%{number}, %r{number} = fuseops.rms_norm {value} gamma(%g) eps(1.0e-6) : "
        f"({MATRIX}, {VECTOR}) -> ({MATRIX}, {COLUMN})"
    )


def binary(number: int, op: str, a: str, b: str) -> str:
    return f"%{number} = fuseops.{op} {a}, {b} : {MATRIX}, {MATRIX} -> {MATRIX}"


def layers(ops: int) -> str:
    """Blocks of norm, two linears, SwiGLU, a linear and the residual."""
    body: list[str] = []
    stream = "%x"

    def linear(value: str) -> str:
        body.append(f"%{len(body)} = fuseops.linear {value}, %w : ({MATRIX}, {WEIGHT}) -> {MATRIX}")
        return f"%{len(body) - 1}"

    while len(body) < ops:
        body.append(norm(len(body), stream))
        normed = f"%{len(body) - 1}"
        gate, up = linear(normed), linear(normed)
        body.append(f"%{len(body)} = fuseops.silu {gate} : {MATRIX}")
        body.append(binary(len(body), "mul", f"%{len(body) - 1}", up))
        down = linear(f"%{len(body) - 1}")
        body.append(binary(len(body), "add", stream, down))
        stream = f"%{len(body) - 1}"
    return wrap(body, stream)


def scattered(ops: int) -> str:
    """Operations that read any of the last eight values."""
    choose = random.Random(ops)
    body: list[str] = []
    values = ["%x"]
    for number in range(ops):
        kind = choose.randrange(8)
        recent = values[-8:]
        if kind == 0:
            body.append(norm(number, choose.choice(recent)))
        elif kind < 4:
            op = choose.choice(("silu", "relu", "srelu"))
            body.append(f"%{number} = fuseops.{op} {choose.choice(recent)} : {MATRIX}")
        else:
            op = choose.choice(("add", "mul"))
            body.append(binary(number, op, choose.choice(recent), choose.choice(recent)))
        values.append(f"%{number}")
    # Every value has a reader.
    total = values[-1]
    for value in values[-8:-1]:
        body.append(binary(len(body), "add", total, value))
        total = f"%{len(body) - 1}"
    return wrap(body, total)


def measure(tool: Path, program: str) -> float:
    """The pass's milliseconds in one run."""
    command = [
        str(tool), "-", "-o", "/dev/null", "--fuseops-forward-fusion",
        "--mlir-disable-threading", "--mlir-timing", "--mlir-timing-display=list",
    ]  # fmt: skip
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    found = re.search(r"^\s*([\d.]+) \(.*ForwardFusionPass", done.stderr, re.MULTILINE)
    assert found, done.stderr
    return 1000 * float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "dev" / "bin")
    parser.add_argument("--ops", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"{'program':10} {'ops':>6} {'ms':>10}")
    for name, write in (("layers", layers), ("random", scattered)):
        for ops in options.ops:
            program = write(ops)
            times = [measure(options.bin / "fuse-opt", program) for _ in range(options.repeat)]
            print(f"{name:10} {ops:6} {min(times):10.1f}")


if __name__ == "__main__":
    main()
