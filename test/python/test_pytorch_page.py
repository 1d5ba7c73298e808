# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/PyTorch.md shows is so: its code runs, with the backend found by its
name, and prints what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

pytest.importorskip("torch")

PAGE = (ROOT / "docs" / "PyTorch.md").read_text()


def blocks(language: str) -> list[str]:
    """The page's blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def entry_points() -> str:
    """Those of pyproject.toml, as an installed package has them."""
    project = (ROOT / "pyproject.toml").read_text()
    (table,) = re.findall(r"^\[project\.entry-points\.(\w+)\]\n(.*?)\n\n", project, re.M | re.S)
    return f"[{table[0]}]\n{table[1].replace(chr(34), '')}\n"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What the page's code prints and logs, run in one piece."""
    folder = tmp_path_factory.mktemp("page")
    information = folder / "fuseops-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: fuseops\nVersion: 0\n")
    (information / "entry_points.txt").write_text(entry_points())
    (folder / "model.py").write_text("\n".join(blocks("python")))
    done = subprocess.run(
        [sys.executable, "model.py"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{folder}",
            "TORCH_LOGS": "fuseops.torch",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def without_places(text: str) -> list[str]:
    """Lines without folders, line numbers, the processor and runs of spaces."""
    text = re.sub(r"\S*model\.py:\d+", "model.py", text)
    text = re.sub(r"\(x86[^)]*\)|\(aarch[^)]*\)", "", text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_the_explanation_is_that_of_the_page(printed: tuple[str, str]):
    (shown,) = blocks("text")
    assert without_places(printed[0]) == without_places(shown)


def test_every_graph_has_a_pipeline(printed: tuple[str, str]):
    graphs = re.findall(r"graph: (\d+) of (\d+) operations", printed[1])
    # The block; the feed-forward part at its first size and for all others.
    assert graphs == [("7", "8"), ("3", "3"), ("3", "3")]


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)#]+)", PAGE))
def test_links(path: str):
    assert Path(ROOT / "docs" / path).exists()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(examples/[\w.]+)`", PAGE))))
def test_named_files(path: str):
    assert (ROOT / path).exists()
