# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated products on a GPU beside cuBLASLt's: right first, then timed.

    python benchmarks/measure_gemm.py NAME [--schedule "ping_pong = 0, …"]…

prints, each as a line of JSON, the rows of NAME (benchmarks/gemm.py) and what was wrong.
Outputs are compared with f64 of the operands' values, elementwise and on all of them; what
may be off follows from what the product may lose. A peer that fails is a fault, and ours
is timed without it.
Ours and all calls of cuBLASLt then run in a random order each round, launches back to
back, on random normal data. With several schedules each is a row, the fastest first.
A part of scripts/gpu_bench --rows gemm.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import fuseops
import torch
from gemm import ROWS, Row

ROUNDS, LAUNCHES = 15, 10
# Tails of rows, columns and K.
TAILS = (333, 1424, 912)
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
# Of what is rounded to a type, and to BF16 on the way, relative to the element.
ROUNDING = {torch.bfloat16: 2**-7, torch.float32: 2**-7, E4M3: 2**-3, E5M2: 2**-2}
Call = Callable[[], Any]
Extents = tuple[int, int, int]


@contextlib.contextmanager
def poisoned() -> Iterator[None]:
    """PyTorch fills the memory that it gives with NaN."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def accumulation_error(dtype: torch.dtype, k: int, is_fast: bool) -> float:
    """What sums of k products may lose, relative to their size and root mean square.

    The tensor cores of Hopper add FP8 by 32 of K, and cut each addend, the sum so far too,
    towards zero 13 bits below the largest. What the sum loses has one sign, and adds up;
    what the products lose is a random walk, of which this is 8 times the deviation. It
    is the larger of the two. Without fast accumulation the sums of 128 are added in f32:
    each loses what 4 steps can, and those losses are a random walk, whose length cancels
    since the root mean square grows alike. For BF16 it is the walk alone, 22 bits below,
    as measured."""
    steps = k / 32
    if dtype.itemsize > 1:
        return 8 * math.sqrt(steps) * 2.0**-22
    lost = max(steps, 8 * math.sqrt(steps)) if is_fast else 8 * min(steps, 4)
    return lost * 2.0**-13


def expect(row: Row, inputs: list[torch.Tensor]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The outputs in f64, and how far what the product may lose moves each element: the most
    of four tries with random signs, so that each half of the columns, as of a gated unit,
    is off in both ways beside the other, and sums over rows are random walks."""
    operands, others = row.split(inputs)
    product = row.product(*operands)
    expected = row.finish(product, *others)
    lost = accumulation_error(inputs[0].dtype, inputs[0].shape[1], row.is_fast)
    off = lost * (product.abs() + product.square().mean().sqrt())
    off *= torch.empty_like(off).bernoulli_().mul_(2).sub_(1)
    responses = [torch.zeros_like(output) for output in expected]
    for _ in range(2):
        off[:, off.shape[1] // 2 :].neg_()
        for _ in range(2):
            moved = row.finish(product + off.neg_(), *others)
            for response, other, output in zip(responses, moved, expected, strict=True):
                torch.maximum(response, (other - output).abs_(), out=response)
    return expected, responses


def find_fault(found: Any, expected: list[torch.Tensor], responses: list[torch.Tensor]) -> str:
    """Which output differs, and by how much; empty if none does. An element may be off by
    its rounding and its response, and, where that is small by chance, by twice the root mean
    square of all."""
    found = found if isinstance(found, tuple) else (found,)
    for number, (one, other, response) in enumerate(zip(found, expected, responses, strict=True)):
        if one.shape != other.shape:
            return f"output {number}: expected {tuple(other.shape)}, but got {tuple(one.shape)}"
        bound = ROUNDING[one.dtype] * other.abs() + response
        bound += 2 * response.square().mean().sqrt()
        error = ((one.double() - other).abs() / bound).max().item()
        # A NaN is no less than the bound.
        if not error <= 1:
            return f"output {number}: {error:.3g} of the bound"
    return ""


def peers_of(row: Row, extents: Extents, inputs: list[torch.Tensor]) -> list[Call]:
    """cuBLASLt's calls for the row's product. That of FP8 with scales of whole tensors has
    a kernel of scales of rows too, which is sometimes faster; it gives no f32."""
    m, n, k = extents
    if row.is_library_call:
        program = fuseops.compile_ir(row.program(n, k, "", "library"), target="cuda")
        return [lambda: program(*inputs)]
    if row.list_peers is not None:
        return row.list_peers(*inputs)
    if row.peer is None:
        return []
    calls = [lambda: row.peer(*inputs)]
    is_by_tensor = inputs[0].dtype.itemsize == 1 and inputs[1].ndim == inputs[3].ndim == 0
    if is_by_tensor and "xf32" not in row.outputs:
        by_row = list(inputs)
        by_row[1] = inputs[1].expand(m, 1).contiguous()
        by_row[3] = inputs[3].expand(1, n).contiguous()
        calls.append(lambda: row.peer(*by_row))
    return calls


def peers_that_run(
    row: Row, extents: Extents, inputs: list[torch.Tensor], faults: list[str]
) -> list[Call]:
    """The peers, once each has run; none and a fault if one fails, so that ours is timed."""
    try:
        peers = peers_of(row, extents, inputs)
        for call in peers:
            call()
        torch.cuda.synchronize()
    except Exception as error:
        faults.append(f"{format_extents(extents)}: cuBLASLt: {error}")
        return []
    return peers


def time_calls(calls: list[Call]) -> list[float]:
    """The median microseconds of each, in a random order each round."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        for _ in range(3):
            call()
    for _ in range(ROUNDS):
        for number in random.sample(range(len(calls)), len(calls)):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(200_000)
            start.record()
            for _ in range(LAUNCHES):
                calls[number]()
            end.record()
            end.synchronize()
            times[number].append(start.elapsed_time(end) * 1000 / LAUNCHES)
    return [statistics.median(series) for series in times]


def evaluate(size: list[int], rows: int) -> int:
    """A size of the report: `constant, per_row, per_block32, per_block128`."""
    units = [1, rows, -(-rows // 32), -(-rows // 128)]
    return sum(part * unit for part, unit in zip(size, units, strict=False))


def describe(
    row: Row, extents: Extents, report: dict[str, Any], time_us: float, peers_us: list[float]
) -> dict[str, Any]:
    """The row as benchmarks/results has it; the share of the floor is left to who knows the
    bandwidth."""
    m, n, k = extents
    entry = report["entries"][0]
    flops = 2 * m * n * k
    kernels = [
        {key: kernel[key] for key in ("name", "template", "members")}
        | {"bytes": evaluate(kernel["bytes"], m)}
        for kernel in entry["kernels"]
    ]
    return {
        "name": row.name,
        "shape": list(extents),
        "dtype": entry["tensors"][0]["dtype"],
        "time_us": time_us,
        "bytes": evaluate(entry["floor_bytes"], m),
        "flops": flops,
        "tflops": flops / time_us / 1e6,
        "kernels": kernels,
        "peers": {"cublaslt": min(peers_us)} if peers_us else {},
        "ratio": min(peers_us) / time_us if peers_us else None,
    }


@dataclass
class Candidate:
    """The program of a row under one schedule."""

    schedule: str
    program: Any


def compile_candidates(
    row: Row, extents: Extents, schedules: list[str], faults: list[str]
) -> list[Candidate]:
    """Those that compile."""
    _, n, k = extents
    found = []
    for schedule in schedules:
        try:
            program = fuseops.compile_ir(row.program(n, k, schedule), target="cuda")
            found.append(Candidate(schedule, program))
        except fuseops.FuseOpsError as error:
            faults.append(f"{{{schedule}}} {format_extents(extents)}: {error.diagnostics.strip()}")
    return found


def format_extents(extents: Extents) -> str:
    return "x".join(map(str, extents))


def run_right(
    row: Row, extents: Extents, schedules: list[str], faults: list[str]
) -> tuple[list[Candidate], list[torch.Tensor]]:
    """The candidates that give what they should, and the inputs; what the others do is
    added to the faults."""
    m, n, k = extents
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        inputs = row.make(m, n, k)
    candidates = compile_candidates(row, extents, schedules, faults)
    expected, responses = expect(row, inputs)
    right = []
    for candidate in candidates:
        with poisoned():
            found = candidate.program(*inputs)
        if fault := find_fault(found, expected, responses):
            faults.append(f"{{{candidate.schedule}}} {format_extents(extents)}: {fault}")
        else:
            right.append(candidate)
    return right, inputs


def time_candidates(
    row: Row,
    extents: Extents,
    candidates: list[Candidate],
    inputs: list[torch.Tensor],
    faults: list[str],
) -> list[dict[str, Any]]:
    """A row of each, the fastest first; a peer that fails is added to the faults."""
    calls = [lambda program=one.program: program(*inputs) for one in candidates]
    times = time_calls(calls + peers_that_run(row, extents, inputs, faults))
    peers_us = times[len(calls) :]
    rows = []
    for candidate, time_us in zip(candidates, times, strict=False):
        entry = describe(row, extents, candidate.program.report, time_us, peers_us)
        rows.append(entry | ({"schedule": candidate.schedule} if candidate.schedule else {}))
    return sorted(rows, key=lambda entry: entry["time_us"])


def measure(row: Row, schedules: list[str]) -> Iterator[dict[str, Any]]:
    """`{"row": …}` for each shape and schedule, and `{"fault": …}`. A row that is wrong, at
    its shape or with tails, is not timed."""
    faults: list[str] = []
    schedules = [one.schedule for one in run_right(row, row.fit(TAILS), schedules, faults)[0]]
    for extents in row.shapes:
        candidates, inputs = run_right(row, extents, schedules, faults)
        yield from ({"fault": fault} for fault in faults)
        faults.clear()
        if candidates:
            rows = time_candidates(row, extents, candidates, inputs, faults)
            yield from ({"row": entry} for entry in rows)
            yield from ({"fault": fault} for fault in faults)
            faults.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--schedule", action="append", metavar="KEYS", help="of the group")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    (row,) = (row for row in ROWS if row.name == options.name)
    for line in measure(row, options.schedule or [""]):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
