#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small Llama with and without FuseOps and plots both losses.

    examples/train_llama_block.py [--steps N] [--device cpu|cuda] [--out FILE.png]
                                  [--inductor] [--rest inductor|eager] [--autocast]
                                  [--layers N] [--width N]

The text is the Python standard library's own source, byte by byte, so nothing is
downloaded. Each run starts from the same weights and sees the same batches. Prints
tokens per second without the first steps, which compile. Needs PyTorch and Matplotlib.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fuseops
import torch
import torch.nn.functional as F
from fuseops.torch.backend import fuseops_backend
from matplotlib.figure import Figure
from torch import Tensor, nn

NUM_BYTES = 256
WARM_UP = 2


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotary embedding of x [batch, heads, length, size]."""
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat((-second, first), -1) * sines


class Attention(nn.Module):
    """Causal attention with rotary embedding."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        q, k = rotate(q, cosines, sines), rotate(k, cosines, sines)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    """The gated MLP of Llama."""

    def __init__(self, width: int) -> None:
        super().__init__()
        hidden = 8 * width // 3 // 32 * 32
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """A layer of Llama."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.attention = nn.RMSNorm(width), Attention(width, heads)
        self.norm2, self.feed_forward = nn.RMSNorm(width), FeedForward(width)

    def forward(self, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), cosines, sines)
        return x + self.feed_forward(self.norm2(x))


class Llama(nn.Module):
    """A language model of bytes; a call gives the loss of the next bytes."""

    def __init__(self, layers: int, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(NUM_BYTES, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, NUM_BYTES, bias=False)
        size = width // heads
        frequencies = 10000.0 ** -(torch.arange(0, size, 2) / size)
        angles = torch.outer(torch.arange(length), frequencies).repeat(1, 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cosines, self.sines)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def read_text(limit: int = 4 << 20) -> Tensor:
    """Bytes of the standard library's sources, up to a limit."""
    text = bytearray()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text += path.read_bytes()
        if len(text) > limit:
            break
    return torch.frombuffer(text[:limit], dtype=torch.uint8)


@dataclass
class Run:
    """What one training run came to."""

    name: str
    losses: list[float]
    tokens_per_second: float
    warm_up_seconds: float


def train(
    name: str,
    model: nn.Module,
    compile_model: Callable[[nn.Module], Callable[..., Tensor]],
    text: Tensor,
    options: argparse.Namespace,
) -> Run:
    """Trains a copy of the model."""
    model = copy.deepcopy(model)
    call = compile_model(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, fused=True)
    random = torch.Generator().manual_seed(options.seed)
    offsets = torch.arange(options.length + 1)
    cast = contextlib.nullcontext()
    if options.autocast:
        cast = torch.autocast(options.device, torch.bfloat16)
    warm_up = min(WARM_UP, options.steps - 1)
    # They stay on the device, so that no step waits for it.
    losses = torch.zeros(options.steps, device=options.device)
    start = warm = time.perf_counter()
    for step in range(options.steps):
        starts = torch.randint(len(text) - options.length, (options.batch, 1), generator=random)
        batch = text[starts + offsets].to(options.device, torch.int64)
        with cast:
            loss = call(batch[:, :-1], batch[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses[step] = loss.detach()
        if step + 1 == warm_up:
            loss.item()
            warm = time.perf_counter()
    values = losses.tolist()
    tokens = (options.steps - warm_up) * options.batch * options.length
    return Run(name, values, tokens / (time.perf_counter() - warm), warm - start)


def plot(runs: list[Run], path: Path) -> None:
    """The losses over the steps, and how far each run is from the first."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    for run, style in zip(runs, ("-", "--", ":"), strict=False):
        speed = f"{run.name}, {run.tokens_per_second:,.0f} tokens/s"
        above.plot(run.losses, style, label=speed)
        if run is not runs[0]:
            apart = [abs(a - b) for a, b in zip(run.losses, runs[0].losses, strict=True)]
            below.plot(apart, style, color=above.lines[-1].get_color())
    above.set_ylabel("loss, nats a byte")
    above.legend()
    below.set_ylabel(f"difference from {runs[0].name}")
    below.set_xlabel("step")
    figure.savefig(path, dpi=150)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("llama_block.png"))
    parser.add_argument("--inductor", action="store_true", help="a run with Inductor too")
    parser.add_argument("--rest", default="inductor", help="who runs what fuseops doesn't")
    parser.add_argument("--autocast", action="store_true", help="compute in bfloat16")
    for name, default in (("layers", 2), ("width", 192), ("heads", 6), ("batch", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    torch.manual_seed(options.seed)
    text = read_text()
    model = Llama(options.layers, options.width, options.heads, options.length)
    model = model.to(options.device)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{count:,} parameters, {len(text):,} bytes of text, {options.device}")

    rest = {"rest": options.rest}
    # `backend="fuseops"` where the package is installed.
    ways: dict[str, Callable[[nn.Module], Callable[..., Tensor]]] = {
        "eager": lambda model: model,
        "fuseops": lambda model: torch.compile(model, backend=fuseops_backend, options=rest),
    }
    if options.inductor:
        ways["inductor"] = torch.compile
    runs = []
    for name, way in ways.items():
        torch.compiler.reset()
        run = train(name, model, way, text, options)
        print(
            f"{name:<9} loss {run.losses[0]:.4f} to {run.losses[-1]:.4f}, "
            f"{run.tokens_per_second:,.0f} tokens/s, warm-up {run.warm_up_seconds:.1f} s"
        )
        runs.append(run)
    apart = max(abs(a - b) for a, b in zip(runs[0].losses, runs[1].losses, strict=True))
    print(f"largest difference of a loss: {apart:.1e}")

    batch = text[: options.length + 1].to(options.device, torch.int64)[None]
    explanation = fuseops.explain(model, batch[:, :-1], batch[:, 1:])
    taken = f"{explanation.num_taken} of {explanation.num_operations}"
    print(f"fuseops takes {taken} operations ({explanation.share:.0%}); see fuseops.explain")
    print(f"forward: {explanation.traffic('forward')}")
    print(f"backward: {explanation.traffic('backward')}")
    plot(runs, options.out)
    print(f"{options.out}: the losses")


if __name__ == "__main__":
    main()
