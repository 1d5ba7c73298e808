# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of torch.compile run, and show what they say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")

TINY = [
    *("--layers=2", "--width=64", "--heads=2"),
    *("--steps=8", "--batch=2", "--length=32", "--rest=eager"),
]


def run(name: str, *arguments: str) -> str:
    """What an example prints."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_user_activation():
    printed = run("user_activation")
    assert "10 of 10 operations (100%) taken" in printed
    for entry in ("forward", "backward"):
        assert f"{entry}: the activation is one kernel, {entry}_1: " in printed
    errors = re.findall(r"^(\w+): error (\S+) of (\S+)$", printed, re.M)
    assert [name for name, *_ in errors] == ["y", "dx", "dup", "ddown"]
    assert all(float(error) <= 1e-5 * float(size) for _, error, size in errors)


@pytest.mark.parametrize(("flag", "tolerance"), [((), 1e-4), (("--autocast",), 0.05)])
def test_train_llama_block(tmp_path: Path, flag: tuple[str, ...], tolerance: float):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "losses.png"
    printed = run("train_llama_block", *TINY, *flag, f"--out={picture}")
    losses = re.findall(r"^(\w+) +loss (\S+) to (\S+), (\S+) tokens/s", printed, re.M)
    assert [name for name, *_ in losses] == ["eager", "fuseops"]
    # It learns.
    assert all(float(last) < float(first) - 0.5 for _, first, last, _ in losses)
    (apart,) = re.findall(r"^largest difference of a loss: (\S+)$", printed, re.M)
    assert float(apart) < tolerance
    (share,) = re.findall(r"^fuseops takes .* operations \((\d+)%\)", printed, re.M)
    assert int(share) >= 90
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_train_llama_fp8(tmp_path: Path):
    pytest.importorskip("matplotlib")
    picture, data = tmp_path / "losses.png", tmp_path / "losses.json"
    arguments = [
        *TINY,
        "--device=cpu",
        "--rate=2e-3",
        "--window=4",
        f"--out={picture}",
        f"--json={data}",
    ]
    printed = run("train_llama_fp8", *arguments, "--recipes=bf16,delayed,block,rowwise_wgrad")
    lines = re.findall(r"^(\w+) +loss (\S+) \((\S+)%\), (\S+) tokens/s", printed, re.M)
    assert [name for name, *_ in lines] == ["bf16", "delayed", "block", "rowwise_wgrad"]
    assert all(abs(float(apart)) < 5 for _, _, apart, _ in lines)
    runs = json.loads(data.read_text())
    # It learns, and FP8 is not BF16.
    assert all(r["losses"][-1] < r["losses"][0] - 0.5 for r in runs)
    assert len({tuple(r["losses"]) for r in runs}) == 4
    assert picture.read_bytes().startswith(b"\x89PNG")
