# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One of two processes that train a compiled model under DDP or FSDP2 with gloo, and
compare it with eager training on the whole batch.

    python distributed_worker.py WRAPPER RANK WORLD STORE
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "python")]

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from torch_backend.harness import compile_with  # noqa: E402
from torch_backend.test_training import GatedMlp  # noqa: E402

STEPS = 4


def build() -> nn.Module:
    """The same model in each process."""
    torch.manual_seed(0)
    return nn.Sequential(GatedMlp(), GatedMlp())


def wrap(wrapper: str, model: nn.Module) -> tuple[nn.Module, list]:
    """The model compiled and distributed, in the order that PyTorch's guides name."""
    if wrapper == "ddp":
        call, recorder = compile_with(nn.parallel.DistributedDataParallel(model), fullgraph=False)
        return call, [recorder]
    if wrapper == "ddp_of_compiled":
        call, recorder = compile_with(model)
        return nn.parallel.DistributedDataParallel(call), [recorder]
    from torch.distributed.device_mesh import init_device_mesh  # noqa: PLC0415
    from torch.distributed.fsdp import fully_shard  # noqa: PLC0415

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    recorders = []
    for index, block in enumerate(model):
        compiled, recorder = compile_with(block)
        recorders.append(recorder)
        model[index] = compiled
        fully_shard(compiled, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, recorders


def train(call: nn.Module, batches: Tensor, targets: Tensor) -> list[float]:
    """The losses of some steps."""
    optimizer = torch.optim.SGD(call.parameters(), lr=0.1)
    losses = []
    for x, y in zip(batches, targets, strict=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(call(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main(wrapper: str, rank: int, world: int, store: str) -> None:
    """Trains, and raises an error where a loss differs from eager's."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    torch.manual_seed(1)
    batches, targets = torch.randn(2, STEPS, 4 * world, 16)
    part = slice(4 * rank, 4 * rank + 4)
    call, recorders = wrap(wrapper, build())
    losses = torch.tensor(train(call, batches[:, part], targets[:, part]))
    dist.all_reduce(losses)
    want = torch.tensor(train(build(), batches, targets))
    torch.testing.assert_close(losses / world, want, rtol=1e-4, atol=1e-6)
    assert all(recorder.pipelines for recorder in recorders)
    assert want[-1] != want[0]
    dist.destroy_process_group()
    print(f"rank {rank}: {len(recorders)} compiled")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
