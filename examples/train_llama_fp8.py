#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small Llama in BF16 and by each FP8 recipe, and plots the losses.

    examples/train_llama_fp8.py [--recipes NAME,NAME…] [--steps N] [--device cpu|cuda]
                                [--out FILE.png] [--json FILE] [--layers N] [--width N]
                                [--budget SECONDS]

Model, text and batches are train_llama_block.py's: each run starts from the same
weights and sees the same batches. Parameters are FP32, and torch.autocast makes
BF16 of what no recipe is for. The last linear layer stays in BF16. Prints, for each
run, the loss at the end, smoothed, how far it is from BF16's, and tokens per second
without the first steps, which compile. A run that would start after the budget is
left out. Needs PyTorch and Matplotlib.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from fuseops import recipe
from fuseops.torch.backend import fuseops_backend
from matplotlib.figure import Figure
from torch import nn
from train_llama_block import Llama, Run, read_text, train

# The layers that people leave in BF16.
OVERRIDE = {"head": None}
RECIPES = {
    "delayed": recipe.DelayedScaling(amax_history_len=16, override=OVERRIDE),
    "current": recipe.Float8CurrentScaling(override=OVERRIDE),
    "block": recipe.Float8BlockScaling(override=OVERRIDE),
    "rowwise": recipe.Rowwise(override=OVERRIDE),
    "rowwise_wgrad": recipe.Rowwise(high_precision_wgrad=True, override=OVERRIDE),
    "mx": recipe.MXFP8BlockScaling(override=OVERRIDE),
}
BASELINES = ("bf16", "bf16_inductor", "bf16_eager")


def compile_for(name: str, rest: str, model: nn.Module) -> Any:
    """A model compiled for a run."""
    if name == "bf16_eager":
        return model
    if name == "bf16_inductor":
        return torch.compile(model)
    options = {"rest": rest, "recipe": RECIPES.get(name)}
    return torch.compile(model, backend=fuseops_backend, options=options)


def smooth(losses: list[float], window: int) -> list[float]:
    """The mean of the last losses up to each step."""
    means = []
    for step in range(1, len(losses) + 1):
        recent = losses[max(0, step - window) : step]
        means.append(sum(recent) / len(recent))
    return means


def plot(runs: list[Run], window: int, path: Path) -> None:
    """The smoothed losses over the steps, and how far each run is from the first."""
    figure = Figure(figsize=(8, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    base = smooth(runs[0].losses, window)
    for run in runs:
        curve = smooth(run.losses, window)
        (line,) = above.plot(curve, label=f"{run.name}, {run.tokens_per_second:,.0f} tokens/s")
        apart = [100 * (a / b - 1) for a, b in zip(curve, base, strict=True)]
        below.plot(apart, color=line.get_color())
    above.set_ylabel(f"loss, nats a byte, mean of {window} steps")
    above.legend()
    below.axhspan(-0.5, 0.5, alpha=0.15)
    below.set_ylim(-2, 2)
    below.set_ylabel(f"% above {runs[0].name}")
    below.set_xlabel("step")
    figure.savefig(path, dpi=150)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ",".join((*BASELINES, *RECIPES))
    parser.add_argument("--recipes", default=names, help="the runs; the first is compared with")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("llama_fp8.png"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rest", default="inductor", help="who runs what fuseops doesn't")
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--window", type=int, default=50)
    for name, default in (("layers", 4), ("width", 1024), ("heads", 8), ("batch", 16)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.autocast = True
    for name in options.recipes.split(","):
        if name not in (*BASELINES, *RECIPES):
            parser.error(f"expected runs among {names}, but got {name}")
    return options


def main() -> None:
    options = parse_options()
    torch.manual_seed(options.seed)
    text = read_text()
    model = Llama(options.layers, options.width, options.heads, options.length)
    model = model.to(options.device)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{count:,} parameters, {len(text):,} bytes of text, {options.device}")
    start = time.perf_counter()
    runs: list[Run] = []
    for name in options.recipes.split(","):
        if time.perf_counter() - start > options.budget:
            print(f"{name:<14} left out: over the budget", flush=True)
            continue
        torch.compiler.reset()
        run = train(name, model, lambda m, n=name: compile_for(n, options.rest, m), text, options)
        runs.append(run)
        last = smooth(run.losses, options.window)[-1]
        apart = 100 * (last / smooth(runs[0].losses, options.window)[-1] - 1)
        print(
            f"{name:<14} loss {last:.4f} ({apart:+.2f}%), {run.tokens_per_second:,.0f} tokens/s, "
            f"warm-up {run.warm_up_seconds:.1f} s",
            flush=True,
        )
        # What there is stays, whatever becomes of the next run.
        plot(runs, options.window, options.out)
        if options.json:
            options.json.write_text(json.dumps([vars(run) for run in runs]))
    print(f"{options.out}: the losses")


if __name__ == "__main__":
    main()
