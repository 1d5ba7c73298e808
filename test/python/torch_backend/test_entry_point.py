# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(model, backend="fuseops")` and its options."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from fuseops.errors import FuseOpsError
from fuseops.torch.backend import fuseops_backend
from torch._dynamo.exc import BackendCompilerFailed
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[3]
GROUP = "torch_dynamo_backends"

PROGRAM = """
import sys
import torch
from torch.nn import functional as F

assert "fuseops" in torch.compiler.list_backends(exclude_tags=())
assert "fuseops" not in sys.modules
call = torch.compile(lambda x: F.silu(x) * x, backend="fuseops", options={"rest": "eager"})
x = torch.randn(3, 4)
torch.testing.assert_close(call(x), F.silu(x) * x)
assert sys.modules["fuseops.torch.pipeline"]
print("compiled")
"""


def test_entry_point_needs_no_import(tmp_path: Path) -> None:
    """As pip writes it from pyproject.toml."""
    project = (ROOT / "pyproject.toml").read_text()
    found = re.search(rf"^\[project\.entry-points\.{GROUP}\]\n((?:\w+ = .+\n)+)", project, re.M)
    info = tmp_path / "fuseops-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fuseops\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{found[1]}".replace('"', ""))
    path = os.pathsep.join((str(tmp_path), str(ROOT / "python")))
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "compiled\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rests": "eager"}, "expected options among `rest`, .*but got `rests`"),
        ({"rest": "gpu"}, "expected option `rest` to be one of .*but got 'gpu'"),
    ],
)
def test_options_are_checked(options: dict[str, str], message: str) -> None:
    call = torch.compile(lambda x: F.silu(x) * 2, backend=fuseops_backend, options=options)
    with pytest.raises(BackendCompilerFailed, match=message) as error:
        call(torch.randn(3))
    assert isinstance(error.value.inner_exception, FuseOpsError)


def test_mode_is_checked() -> None:
    with pytest.raises(FuseOpsError, match=r"expected mode .* but got `fastest`"):
        fuseops_backend(torch.fx.GraphModule({}, torch.fx.Graph()), [], mode="fastest")


def test_an_error_leaves_nothing_changed() -> None:
    """The next, unrelated function compiles."""
    bad = torch.compile(F.silu, backend=fuseops_backend, options={"rest": "gpu"})
    with pytest.raises(Exception, match="expected option"):
        bad(torch.randn(3))
    good = torch.compile(lambda x: F.silu(x) * 2, backend=fuseops_backend)
    x = torch.randn(3)
    torch.testing.assert_close(good(x), F.silu(x) * 2)


def test_function_without_tensors() -> None:
    call = torch.compile(lambda n: n * 2, backend=fuseops_backend, dynamic=True)
    assert [call(n) for n in (2, 3, 5)] == [4, 6, 10]
