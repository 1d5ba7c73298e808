# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model through torch-mlir and FuseOps: export, import, compile, run, and compare with eager.

    .venv/bin/python examples/torch_mlir_backend.py

Needs torch and torch-mlir (scripts/setup --torch).
"""

from __future__ import annotations

import argparse

import torch
from fuseops.torch_mlir import FuseOpsBackend, export_and_import


class GatedMLP(torch.nn.Module):
    """RMS norm, gated SiLU MLP and residual, as in a Llama block: [batch, 64] to [batch, 64]."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.norm = torch.nn.RMSNorm(64, eps=1e-6, dtype=dtype)
        self.gate = torch.nn.Linear(64, 172, bias=False, dtype=dtype)
        self.up = torch.nn.Linear(64, 172, bias=False, dtype=dtype)
        self.down = torch.nn.Linear(172, 64, bias=False, dtype=dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normalized = self.norm(x)
        gated = torch.nn.functional.silu(self.gate(normalized)) * self.up(normalized)
        return x + self.down(gated)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="cpu", help="cpu or cuda")
    options = parser.parse_args()
    device = "cuda" if options.target.startswith("cuda") else "cpu"

    torch.manual_seed(0)
    model = GatedMLP(torch.bfloat16).to(device).eval()
    x = torch.randn(8, 64, dtype=torch.bfloat16, device=device)

    # One symbolic size: the program runs for any batch.
    batch = torch.export.Dim("batch", min=2, max=4096)
    module = export_and_import(model, x, dynamic_shapes=({0: batch},))
    operations = [op.name for op in module.body.operations[0].regions[0].blocks[0].operations]
    aten = [name for name in operations if name.startswith("torch.aten.")]
    print(f"torch-mlir gives {len(aten)} operations: {', '.join(aten)}")

    backend = FuseOpsBackend(target=options.target)
    artifact = backend.compile(module)
    invoker = backend.load(artifact)
    entry = artifact.programs["main"].report["entries"][0]
    print(f"FuseOps runs them in {len(entry['kernels'])} kernels:")
    for kernel in entry["kernels"]:
        print(f"  {kernel['template']:<10} {', '.join(kernel['members'])}")

    for size in (8, 1, 500):
        x = torch.randn(size, 64, dtype=torch.bfloat16, device=device)
        with torch.no_grad():
            expected = model(x)
        got = invoker.main(x)
        error = (got.float() - expected.float()).abs().max().item()
        print(f"batch {size}: largest difference from eager {error:.3g}")
        torch.testing.assert_close(got, expected, rtol=2e-2, atol=2e-2)


if __name__ == "__main__":
    main()
