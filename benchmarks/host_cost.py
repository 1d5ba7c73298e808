# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the host time of a call: of eager PyTorch, of a compiled program, and of
`torch.compile(backend="fuseops")`, forward and backward, in microseconds.

    python benchmarks/host_cost.py [--device cuda] [--json FILE]

Bias and GELU of tensors so small that kernels take next to nothing. Each time is the
least of a number of series of calls; on a GPU a series ends when its last kernel has.
`--json` writes the format of benchmarks/results.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import fuseops  # noqa: E402
import torch  # noqa: E402
from torch.nn.functional import gelu  # noqa: E402

ROWS, COLUMNS = 4, 16
SOURCE = f"""
fuseops.fusible @bias_gelu(%x: tensor<?x{COLUMNS}xf32>, %b: tensor<{COLUMNS}xf32>)
    -> tensor<?x{COLUMNS}xf32>
forward {{
  %z = fuseops.bias %x, %b : tensor<?x{COLUMNS}xf32>, tensor<{COLUMNS}xf32>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x{COLUMNS}xf32>
  fuseops.return %y : tensor<?x{COLUMNS}xf32>
}}
"""
# What the project promises, beyond Dynamo's guards.
TARGETS = {"pipeline forward": 20.0, "pipeline backward": 25.0}


class Clock:
    """Times calls on one device."""

    def __init__(self, device: torch.device, series: int, calls: int) -> None:
        self._device = device
        # On the CPU all is done by this thread, whatever else the machine does.
        self._now = time.perf_counter if device.type == "cuda" else time.thread_time
        self._series = series
        self._calls = calls

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def time(self, call: Callable[[], Any]) -> float:
        """Microseconds of a call."""
        for _ in range(self._calls // 10 + 1):
            call()
        self._wait()
        best = float("inf")
        for _ in range(self._series):
            begin = self._now()
            for _ in range(self._calls):
                call()
            self._wait()
            best = min(best, self._now() - begin)
        return best / self._calls * 1e6


def bias_gelu(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return gelu(x + b, approximate="tanh")


def measure_programs(clock: Clock, device: torch.device) -> dict[str, float]:
    """Eager operations and a program's calls."""
    x, b = torch.randn(ROWS, COLUMNS, device=device), torch.randn(COLUMNS, device=device)
    dy = torch.randn_like(x)
    program = fuseops.compile_ir(SOURCE, target=device.type)
    _, *saved = program.run_forward((x, b))
    forward, backward = (x, b), (dy, *saved)
    return {
        "eager add": clock.time(lambda: x + x),
        "eager bias + gelu": clock.time(lambda: bias_gelu(x, b)),
        "empty_strided": clock.time(
            lambda: torch.empty_strided(
                (ROWS, COLUMNS), (COLUMNS, 1), dtype=torch.float32, device=device
            )
        ),
        "Program.run_forward": clock.time(lambda: program.run_forward(forward)),
        "Program.run_backward": clock.time(lambda: program.run_backward(backward)),
    }


class Nothing(torch.autograd.Function):
    """What any function costs that Python differentiates: ready results, two gradients."""

    @staticmethod
    def forward(ctx: Any, ready: tuple[torch.Tensor, ...], *_: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(*ready)
        return ready[0]

    @staticmethod
    def backward(ctx: Any, _: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return (None, *ctx.saved_tensors)


def measure_compiled(clock: Clock, device: torch.device) -> dict[str, float]:
    """A compiled function's calls; `pipeline` is what they cost beyond Dynamo."""
    from fuseops.torch.backend import Options, compile_graph  # noqa: PLC0415

    x = torch.randn(ROWS, COLUMNS, device=device, requires_grad=True)
    b = torch.randn(COLUMNS, device=device, requires_grad=True)
    dy = torch.randn(ROWS, COLUMNS, device=device)
    made = []

    def backend(module: Any, _: Any) -> Callable[..., Any]:
        call, compiled = compile_graph(module, Options(rest="eager"))
        if len(compiled.taken) != 1 or compiled.refused:
            raise SystemExit("error: expected the function to become one pipeline")
        made.append(call)
        return call

    # The graph's inputs are the tensors alone where no size is symbolic.
    compiled = torch.compile(bias_gelu, backend=backend, fullgraph=True, dynamic=False)
    y, expected = compiled(x, b), bias_gelu(x, b)
    torch.testing.assert_close(y, expected)
    (pipeline,) = made

    def differentiate(result: torch.Tensor) -> Callable[[], Any]:
        return lambda: torch.autograd.grad(result, (x, b), dy, retain_graph=True)

    ready = torch.randn_like(x), torch.randn_like(b)
    times = {
        "empty autograd.Function": clock.time(lambda: Nothing.apply(ready, x, b)),
        "empty autograd.Function, backward": clock.time(
            differentiate(Nothing.apply((dy, ready[1]), x, b))
        ),
        "eager bias + gelu, graph": clock.time(lambda: bias_gelu(x, b)),
        "eager backward": clock.time(differentiate(expected)),
        "compiled forward": clock.time(lambda: compiled(x, b)),
        "pipeline forward": clock.time(lambda: pipeline(x, b)),
        "pipeline backward": clock.time(differentiate(y)),
    }
    plain = x.detach(), b.detach()
    times["pipeline forward, no gradients"] = clock.time(lambda: pipeline(*plain))
    return times


def print_breakdown(times: dict[str, float]) -> None:
    """What the parts of a call cost, as differences of the times."""
    allocation = times["empty_strided"]
    forward, backward = times["Program.run_forward"], times["Program.run_backward"]
    print("\nof which, us")
    parts = {
        "run_forward: outputs (y, saved)": 2 * allocation,
        "run_forward: the rest": forward - 2 * allocation,
        "run_backward: outputs (dx, db), workspace": 3 * allocation,
        "run_backward: the rest": backward - 3 * allocation,
        "forward: Dynamo": times["compiled forward"] - times["pipeline forward"],
        "forward: autograd.Function": times["empty autograd.Function"],
        "forward: pipeline in Python": times["pipeline forward"]
        - times["empty autograd.Function"]
        - forward,
        "backward: autograd's engine": times["empty autograd.Function, backward"],
        "backward: pipeline in Python": times["pipeline backward"]
        - times["empty autograd.Function, backward"]
        - backward,
    }
    for name, value in parts.items():
        print(f"  {name:42} {value:8.2f}")


def write_json(path: Path, times: dict[str, float], device: torch.device) -> None:
    chip = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    row = {"shape": [ROWS, COLUMNS], "dtype": "f32", "peers": {"eager_add": times["eager add"]}}
    rows = [{"name": f"host_cost.{name}", "time_us": us, **row} for name, us in times.items()]
    result = {"date": datetime.date.today().isoformat(), "chip": chip, "rows": rows}
    path.write_text(json.dumps(result, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=default, help="cpu or cuda")
    parser.add_argument("--series", type=int, default=20, help="series of calls")
    parser.add_argument("--calls", type=int, default=1000, help="calls in a series")
    parser.add_argument("--json", type=Path, help="where to write the times")
    options = parser.parse_args()
    device = torch.device(options.device)
    torch.set_num_threads(1)

    clock = Clock(device, options.series, options.calls)
    times = {**measure_programs(clock, device), **measure_compiled(clock, device)}
    print(f"host time of a call, {options.device}, us")
    for name, value in times.items():
        target = f"   (target {TARGETS[name]:.0f})" if name in TARGETS else ""
        print(f"  {name:42} {value:8.2f}{target}")
    print_breakdown(times)
    if options.json:
        write_json(options.json, times, device)
    return 0


if __name__ == "__main__":
    sys.exit(main())
