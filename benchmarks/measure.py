# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row of benchmarks/programs.json and its peer on tensors of PyTorch.

    python benchmarks/measure.py NAME ROWS [COLUMNS]

prints our microseconds and Inductor's in one loop on a GPU, by direction, as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import fuseops
import torch
from peers import PEERS, RANDOM
from rows import Case, list_cases, measured_entries

DTYPES = {
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "i64": torch.int64,
}
# Where a peer rounds to BF16 in another place, a value moves to the next of FP8, by a
# quarter at most, or its block to the next scale: |a - b| over |b| plus a part of the
# root mean square of b. Few elements may differ by more.
STEP, SMALL, FEW = 0.26, 0.1, 1e-3
# Of others, |a - b| over |b| plus the root mean square of b.
TOLERANCE = {torch.bfloat16: 0.06, torch.float32: 2e-3}


PAUSE_SECONDS = 0.04
# A millisecond or so, in which autograd launches a backward pass.
WAITED_CYCLES = 2_000_000


@dataclass(frozen=True)
class Work:
    """One direction of a case: ours and the peer's call, and what ours moves."""

    direction: str
    ours: Callable[[], Any]
    peer: Callable[[], Any] | None
    comparable: bool


def make_inputs(case: Case, program: fuseops.Program, device: str) -> list[torch.Tensor]:
    """Normal random numbers; scales of FP8, and what only makes sense positive, are so."""
    torch.manual_seed(0)
    inputs = []
    for argument, (_, dtype, shape) in zip(
        program.report["arguments"], program.arguments, strict=True
    ):
        extents = [case.rows if extent is None else extent for extent in shape]
        if argument["role"] == "random_state":
            tensor = torch.zeros(extents, dtype=torch.int64)
        elif dtype == "i64":
            classes = program.arguments[0][2][-1]
            tensor = torch.randint(0, classes or 2, extents)
        elif not extents:
            tensor = torch.tensor(16.0)
        elif extents[-1] == 1:
            tensor = torch.rand(extents) + 0.5
        elif argument["role"] == "gamma":
            tensor = 1 + 0.1 * torch.randn(extents)
        else:
            tensor = torch.randn(extents)
        inputs.append(tensor.to(device, DTYPES[dtype]))
    return inputs


def make_works(case: Case, program: fuseops.Program, inputs: list[torch.Tensor]) -> Iterator[Work]:
    """The directions of a case that have kernels, with compiled peers."""
    peer = PEERS.get(case.name)
    torch._dynamo.reset()
    compiled = torch.compile(peer, dynamic=False, fullgraph=True) if peer else None
    comparable = case.name not in RANDOM
    measured = {entry["name"] for entry in measured_entries(program.report)}

    def forward_peer() -> Any:
        with torch.no_grad():
            return compiled(*inputs)

    if "forward" in measured:
        count = program.num_results

        def ours() -> Any:
            return program.run_forward(inputs)[:count]

        yield Work("forward", ours, compiled and forward_peer, comparable)
    if "backward" not in measured:
        return
    outputs = program.run_forward(inputs)
    gradients = [
        torch.randn(result.shape, dtype=torch.float32).to(result.device, result.dtype)
        for result in outputs[: program.num_results]
    ]
    arguments = (*gradients, *outputs[program.num_results :])
    backward_peer = None
    if compiled is not None:
        leaves = [tensor.detach().requires_grad_(tensor.is_floating_point()) for tensor in inputs]
        results = compiled(*leaves)
        results = results if isinstance(results, tuple) else (results,)
        wanted = [leaf for leaf in leaves if leaf.requires_grad]

        def backward_peer() -> Any:
            return torch.autograd.grad(results, wanted, gradients, retain_graph=True)

    yield Work("backward", lambda: program.run_backward(arguments), backward_peer, comparable)


def dequantize(data: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """The values of a copy. Scales are one, of 1x128 (columns of blocks together) or
    of 128x128."""
    rows, columns = data.shape
    if inverse.numel() > 1:
        by_row = inverse.t() if inverse.shape[1] == rows else inverse.repeat_interleave(128, 0)
        inverse = by_row.repeat_interleave(128, 1)[:rows, :columns]
    return data.float() * inverse


def compare(work: Work) -> str:
    """Why the two disagree; nothing if they do not. A sanity check of the peer: our
    results are compared with the reference by `fuse-run --check`."""
    if work.peer is None or not work.comparable:
        return ""
    ours = [tensor for tensor in work.ours() if tensor is not None]
    peer = work.peer()
    peer = list(peer) if isinstance(peer, (tuple, list)) else [peer]
    if len(ours) != len(peer):
        return f"expected {len(ours)} results of the peer, but got {len(peer)}"
    is_scale = False
    for index, (a, b) in enumerate(zip(ours, peer, strict=True)):
        if a.shape != b.shape:
            return f"result {index}: expected {tuple(a.shape)}, but got {tuple(b.shape)}"
        if is_scale:
            is_scale = False
            continue
        if is_scale := a.dtype.itemsize == 1:
            x, y = (dequantize(*results[index : index + 2]) for results in (ours, peer))
            wrong = (x - y).abs() > STEP * y.abs() + SMALL * y.square().mean().sqrt()
            if (part := wrong.float().mean().item()) > FEW:
                return f"result {index}: {part:.1%} of FP8 elements differ"
            continue
        x, y = a.float(), b.float()
        error = ((x - y).abs() / (y.abs() + y.square().mean().sqrt())).max().item()
        if not error <= TOLERANCE[a.dtype]:
            return f"result {index}: differs by {error:.2g}"
    return ""


def median_times(
    calls: list[Callable[[], Any]], synchronize: Callable[[], None], rounds: int, series: int
) -> list[float]:
    """Microseconds of each call, in turns of a few, so that all meet the same machine.
    The threads of the one before sleep by then: OpenMP's spin for 16 ms or so. The
    first call of a turn, which wakes one's own, does not count."""
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, found in zip(calls, samples, strict=True):
            time.sleep(PAUSE_SECONDS)
            call()
            for _ in range(series):
                synchronize()
                begin = time.perf_counter()
                call()
                synchronize()
                found.append((time.perf_counter() - begin) * 1e6)
    return [statistics.median(found) for found in samples]


def event_times(calls: list[Callable[[], Any]], rounds: int, series: int) -> list[float]:
    """Microseconds of each call on the GPU, in turns of a few, so that all meet the same
    clock, which follows the power that is drawn. The GPU waits until the host has
    launched a call; the first of a turn does not count."""
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, found in zip(calls, samples, strict=True):
            call()
            for _ in range(series):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                torch.cuda._sleep(WAITED_CYCLES)
                begin.record()
                call()
                end.record()
                torch.cuda.synchronize()
                found.append(begin.elapsed_time(end) * 1e3)
    return [statistics.median(found) for found in samples]


def measure_beside(name: str, shape: tuple[int, ...]) -> dict[str, list[float]]:
    """Our times of a case and Inductor's, by direction; none where it has no peer."""
    found: dict[str, list[float]] = {}
    if name not in PEERS:
        return found
    (case,) = (case for case in list_cases(name) if (case.name, case.shape) == (name, shape))
    program = fuseops.compile_ir(case.source(), target="cuda", entry=case.entry)
    for work in make_works(case, program, make_inputs(case, program, "cuda")):
        if work.peer:
            found[work.direction] = event_times([work.ours, work.peer], 5, 5)
    return found


if __name__ == "__main__":
    print(json.dumps(measure_beside(sys.argv[1], tuple(map(int, sys.argv[2:])))))
