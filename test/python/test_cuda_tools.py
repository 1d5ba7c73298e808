# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA's assembler of the Python packages is found without an activated venv."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TOOLKIT = Path("/usr/local/cuda")
SCRIPT = """
import sys, fuseops
sys.path = [folder for folder in sys.path if "site-packages" not in folder or sys.argv[2] == "with"]
fuseops.emit(sys.argv[1], "cubin", target="cuda:sm_90a")
"""


def emit_cubin(sites: str) -> subprocess.CompletedProcess[str]:
    """Emits a cubin in an environment with no variable set, and where
    /usr/local/cuda is not, or is hidden in a mount namespace."""
    command = [sys.executable, "-c", SCRIPT, ROOT / "examples" / "bias_gelu.mlir", sites]
    if TOOLKIT.exists():
        hide = f'mount -t tmpfs none {TOOLKIT.resolve()} && exec "$@"'
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", hide, "sh", *command]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_assembler_of_a_venv_that_is_not_active():
    pytest.importorskip("torch")  # Brings nvJitLink.
    refused = emit_cubin("without")
    if "unshare:" in refused.stderr or "mount:" in refused.stderr:
        pytest.skip("this machine's CUDA toolkit cannot be hidden")
    assert "no cubin without an assembler" in refused.stderr
    done = emit_cubin("with")
    assert done.returncode == 0, done.stderr
