# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains blocks of known models through torch.compile, and compares the losses with
eager training from the same seed.

Blocks are those of transformers, with small sizes and without dropout, whose draws
are not eager's. A node of Dynamo's graph is eligible where fuse-opt claims all the
ATen operators that it calls.
"""

from __future__ import annotations

import argparse
import copy
import math
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from fuseops.torch.backend import REST, Compiled, Options, compile_graph
from fuseops.torch.support import Support
from fuseops.torch.trace import fake_mode_of
from torch import Tensor, nn
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.llama import modeling_llama
from transformers.models.mixtral import modeling_mixtral
from transformers.models.t5 import modeling_t5
from transformers.models.vit import modeling_vit

WIDTH = 64
BATCH, LENGTH = 4, 8
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class LlamaBlock(nn.Module):
    """A decoder layer and the rotary embedding that its model computes for it."""

    def __init__(self) -> None:
        super().__init__()
        config = transformers.LlamaConfig(
            hidden_size=WIDTH,
            intermediate_size=2 * WIDTH,
            num_attention_heads=4,
            num_key_value_heads=2,
            attn_implementation="sdpa",
        )
        self.rotary = modeling_llama.LlamaRotaryEmbedding(config)
        self.layer = modeling_llama.LlamaDecoderLayer(config, 0)

    def forward(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[1], device=x.device)[None]
        return self.layer(x, position_embeddings=self.rotary(x, positions))


def gpt_block() -> nn.Module:
    """A block of GPT-2."""
    config = transformers.GPT2Config(
        n_embd=WIDTH,
        n_head=4,
        attn_pdrop=0.0,
        embd_pdrop=0.0,
        resid_pdrop=0.0,
        attn_implementation="sdpa",
    )
    return modeling_gpt2.GPT2Block(config, 0)


def vit_mlp() -> nn.Module:
    """The MLP of a vision transformer."""
    config = transformers.ViTConfig(
        hidden_size=WIDTH, intermediate_size=4 * WIDTH, hidden_dropout_prob=0.0
    )
    return modeling_vit.ViTMLP(config)


def t5_mlp() -> nn.Module:
    """The gated-GELU feed-forward layer of T5 1.1."""
    config = transformers.T5Config(
        d_model=WIDTH, d_ff=2 * WIDTH, feed_forward_proj="gated-gelu", dropout_rate=0.0
    )
    return modeling_t5.T5LayerFF(config)


def mixtral_experts() -> nn.Module:
    """Mixtral's router and experts. Which rows an expert gets depends on data, so
    that Dynamo makes several graphs."""
    config = transformers.MixtralConfig(
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_local_experts=4,
        experts_implementation="eager",
    )
    block = modeling_mixtral.MixtralSparseMoeBlock(config)
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.1)
    return block


BLOCKS: dict[str, Callable[[], nn.Module]] = {
    "llama_block": LlamaBlock,
    "gpt_block": gpt_block,
    "vit_mlp": vit_mlp,
    "t5_gated_mlp": t5_mlp,
    "mixtral_experts": mixtral_experts,
}


@dataclass
class Shares:
    """A backend that counts which eligible nodes are in pipelines."""

    rest: str
    claimed: frozenset[str]
    graphs: int = 0
    eligible: int = 0
    taken: int = 0
    pipelines: int = 0
    seconds: float = 0.0
    # The eligible nodes that are in none, and why.
    left: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, module: torch.fx.GraphModule, examples: Sequence[Any]) -> Any:
        start = time.perf_counter()
        call, compiled = compile_graph(module, Options(rest=self.rest))
        self.seconds += time.perf_counter() - start
        self.graphs += 1
        device = next(x.device for x in examples if isinstance(x, torch.Tensor))
        self._count(compiled, device.type)
        return call

    def __deepcopy__(self, memo: dict[int, Any]) -> Shares:
        # A compiled module holds its backend.
        return self

    def _count(self, compiled: Compiled, target: str) -> None:
        for part in compiled.parts:
            self._count(part, target)
        inside = {node for one in compiled.taken for node in one.nodes}
        self.pipelines += len(compiled.taken)
        fake_mode = fake_mode_of(compiled.module)
        if fake_mode is None:
            return
        support = Support(compiled.module, fake_mode, target)
        for node in compiled.module.graph.nodes:
            operators = support.of(node).operators
            if not operators or not self.claimed.issuperset(operators):
                continue
            self.eligible += 1
            self.taken += node in inside
            if node not in inside:
                self.left.append((node.name, compiled.refused.get(node, "unused")))

    @property
    def share(self) -> float:
        """Of the eligible nodes; 1 if there are none."""
        return self.taken / self.eligible if self.eligible else 1.0


def claimed_operators() -> frozenset[str]:
    """The ATen operators that fuse-opt claims, as PyTorch names them."""
    run = subprocess.run(
        ["fuse-opt", "--list-torch-ops"], capture_output=True, text=True, check=True
    )
    names = (line.removeprefix("torch.") for line in run.stdout.split())
    # PyTorch writes the overload that has no name as `default`.
    return frozenset(name if name.count(".") > 1 else f"{name}.default" for name in names)


def train(call: Callable[[Tensor], Tensor], model: nn.Module, steps: int) -> list[float]:
    """The losses of `steps` steps on inputs of shape [4, 8, 64]."""
    generator = torch.Generator().manual_seed(1)
    shape = (2, 4, BATCH, LENGTH, WIDTH)
    drawn = torch.randn(shape, generator=generator, device="cpu")
    inputs, targets = drawn.to(next(model.parameters()))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        # What a bf16 result is compared in isn't part of the model.
        output = call(inputs[step % 4])
        loss = (output - targets[step % 4]).double().square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@dataclass(frozen=True)
class Outcome:
    """What a comparison of losses came to."""

    shares: Shares
    # By step: the losses, and how far those of a compiled model may be off.
    eager: list[float]
    compiled: list[float]
    noise: list[float]

    @property
    def worst(self) -> float:
        """The largest difference in units of the noise."""
        rows = zip(self.eager, self.compiled, self.noise, strict=True)
        errors = [abs(a - b) / noise for a, b, noise in rows]
        return math.nan if any(map(math.isnan, errors)) else max(errors)

    @property
    def is_within_noise(self) -> bool:
        """Whether no loss is further off; false for NaN."""
        return self.worst <= 1


def compare(name: str, dtype: torch.dtype, rest: str, steps: int) -> Outcome:
    """Trains one block, compiled and eager. The noise of a dtype is what eager is off
    from f64 until then, twice, and a quarter unit in the last place."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = BLOCKS[name]().train()
    exact = train(*[copy.deepcopy(model).double()] * 2, steps)
    model.to(dtype)
    eager = train(*[copy.deepcopy(model)] * 2, steps)
    shares = Shares(rest, claimed_operators())
    compiled = train(torch.compile(model, backend=shares), model, steps)
    noise, largest = [], 0.0
    for a, b in zip(eager, exact, strict=True):
        largest = max(largest, abs(a - b))
        noise.append(2 * largest + torch.finfo(dtype).eps * abs(b) / 4)
    return Outcome(shares, eager, compiled, noise)


def main(arguments: Sequence[str]) -> int:
    """Prints a line for each block and dtype; 1 if a loss is off."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rest", choices=REST, default=REST[0])
    parser.add_argument("--blocks", nargs="+", choices=BLOCKS, default=list(BLOCKS))
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--verbose", action="store_true", help="name the nodes that are left")
    options = parser.parse_args(arguments)
    columns = ("first loss", "last loss", "off/noise", "graphs", "pipelines", "taken", "share", "s")
    print(f"{'block':<18}{'dtype':<10}" + "".join(f"{column:>11}" for column in columns))
    failed = 0
    for name in options.blocks:
        for dtype in options.dtypes:
            outcome = compare(name, DTYPES[dtype], options.rest, options.steps)
            shares = outcome.shares
            cells = (
                f"{outcome.compiled[0]:.6f}",
                f"{outcome.compiled[-1]:.6f}",
                f"{outcome.worst:.2f}",
                shares.graphs,
                shares.pipelines,
                f"{shares.taken}/{shares.eligible}",
                f"{shares.share:.0%}",
                f"{shares.seconds:.1f}",
            )
            verdict = "" if outcome.is_within_noise else "  FAILED"
            row = "".join(f"{cell:>11}" for cell in cells)
            print(f"{name:<18}{dtype:<10}{row}{verdict}", flush=True)
            failed += not outcome.is_within_noise
            if options.verbose:
                for node, reason in shares.left:
                    print(f"  left {node}: {reason}")
    return 1 if failed else 0
