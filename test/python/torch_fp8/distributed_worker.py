# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One of two processes that train with delayed scaling, and compare scales with those
of the largest amaxes of both.

    python distributed_worker.py CASE RANK WORLD STORE
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "python")]

import fuseops  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from fuseops.recipe import DelayedScaling, Rowwise  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from torch_fp8.harness import WIDTH, FeedForward, compiled  # noqa: E402
from torch_fp8.test_delayed import rules_of, state_of  # noqa: E402

STEPS = 5


def batch(step: int, rank: int) -> Tensor:
    """What a process has in a step; any process can tell."""
    torch.manual_seed(10 * step + rank)
    return torch.randn(48, WIDTH) * (1 + 3 * ((step + rank) % 2))


def check_reduction(rank: int, recipe: DelayedScaling, group: dist.ProcessGroup | None) -> None:
    """Scales of the largest amaxes of all, or of the group's; or of each alone."""
    torch.manual_seed(0)
    layer = nn.Linear(WIDTH, WIDTH, bias=False)
    call = compiled(layer)
    rules = rules_of(recipe)
    for step in range(STEPS):
        weight = layer.weight.detach().clone()
        with fuseops.autocast(recipe=recipe, amax_reduction_group=group):
            y = call(batch(step, rank))
        scales = [torch.full_like(y, 2.0 + step * (1 + other)) for other in range(2)]
        layer.zero_grad()
        (y * scales[rank]).sum().backward()
        members = range(2) if recipe.reduce_amax and group is None else [rank]
        inputs = max((batch(step, other) for other in members), key=lambda x: x.abs().max())
        rules["input"].move_on(inputs)
        rules["weight"].move_on(weight)
        rules["output_gradient"].move_on(torch.stack([scales[other] for other in members]))
        for role, rule in rules.items():
            assert torch.equal(getattr(layer, f"fp8_{role}_scale"), rule.scale), (step, role)
            assert torch.equal(getattr(layer, f"fp8_{role}_history"), rule.history), (step, role)
        with torch.no_grad():
            layer.weight.sub_(0.1)


def check_ddp(rank: int) -> None:
    """Training under DDP keeps parameters and state the same everywhere."""
    torch.manual_seed(0)
    model = FeedForward()
    call = nn.parallel.DistributedDataParallel(compiled(model, DelayedScaling(amax_history_len=4)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for step in range(STEPS):
        optimizer.zero_grad()
        call(batch(step, rank)).square().mean().backward()
        optimizer.step()
    tensors = {**dict(model.named_parameters()), **state_of(model)}
    assert len(tensors) == 3 + 12
    for name, tensor in tensors.items():
        first = tensor.detach().clone()
        dist.broadcast(first, 0)
        assert torch.equal(first, tensor.detach()), name


def check_fsdp() -> None:
    """Weights that FSDP gathers again are quantized again."""
    from torch.distributed.device_mesh import init_device_mesh  # noqa: PLC0415
    from torch.distributed.fsdp import fully_shard  # noqa: PLC0415

    torch.manual_seed(0)
    model = nn.Sequential(FeedForward(), FeedForward())
    reference = nn.Sequential(FeedForward(), FeedForward())
    reference.load_state_dict(model.state_dict())
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for index, block in enumerate(model):
        model[index] = compiled(block, Rowwise())
        fully_shard(model[index], mesh=mesh)
    fully_shard(model, mesh=mesh)
    expected = compiled(reference, Rowwise())
    optimizers = [torch.optim.SGD(m.parameters(), lr=2.0) for m in (model, reference)]
    x = batch(0, 0)
    losses: list[list[float]] = [[], []]
    for _ in range(STEPS):
        for own, call, optimizer in zip(losses, (model, expected), optimizers, strict=True):
            for _ in range(2):
                loss = call(x).square().mean()
                loss.backward()
            own.append(loss.item())
            # A write to what the weights are gathered from, and no step.
            with torch.no_grad():
                for parameter in call.parameters():
                    parameter.mul_(0.9)
                own.append(call(x).square().mean().item())
            optimizer.step()
            optimizer.zero_grad()
    assert torch.allclose(torch.tensor(losses[0]), torch.tensor(losses[1]), rtol=1e-4), losses
    assert losses[0][-1] < 0.9 * losses[0][0]


def main() -> None:
    case, rank, world, store = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=world)
    alone = [dist.new_group([other]) for other in range(world)][rank]
    if case == "all":
        check_reduction(rank, DelayedScaling(amax_history_len=3), None)
    elif case == "group":
        check_reduction(rank, DelayedScaling(amax_history_len=3, margin=1), alone)
    elif case == "none":
        check_reduction(rank, DelayedScaling(amax_history_len=3, reduce_amax=False), None)
    elif case == "ddp":
        check_ddp(rank)
    else:
        check_fsdp()
    print(f"rank {rank}: done")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
