# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fuse-compile --report`: JSON, text, and the page as a browser draws it."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILE = ROOT / "build" / "dev" / "bin" / "fuse-compile"
PROGRAM = ROOT / "benchmarks" / "llama_mlp_block.mlir"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def report() -> dict:
    return json.loads(run("--report"))


def run(*options: str) -> str:
    command = [COMPILE, PROGRAM, *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_tensor_that_a_kernel_reads_is_given_or_was_written(report: dict) -> None:
    for entry in report["entries"]:
        names = {tensor["name"] for tensor in entry["tensors"]}
        written: set[str] = set()
        for kernel in entry["kernels"]:
            assert kernel["writes"], kernel["name"]
            assert not written & set(kernel["writes"])
            assert set(kernel["reads"]) | set(kernel["writes"]) <= names
            written |= set(kernel["writes"])
        aliases = {name for kernel in entry["kernels"] for name in kernel["reads"]} - written
        assert set(entry["outputs"]) <= written | aliases


def test_text_names_every_kernel_with_its_bytes(report: dict) -> None:
    lines = run("--report=text").splitlines()
    for entry in report["entries"]:
        for kernel in entry["kernels"]:
            constant, per_symbol = kernel["bytes"][:2]
            terms = [f"{constant}"] * bool(constant) + [f"{per_symbol}*S"] * bool(per_symbol)
            row = next(line for line in lines if line.split()[:1] == [kernel["name"]])
            assert " + ".join(terms) in row


class Page(html.parser.HTMLParser):
    """What a page holds once its script has run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.kernels = self.tensors = self.edges = 0
        self.drawn = False
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.drawn |= tag == "body" and values.get("data-drawn") == "yes"
        self.kernels += tag == "rect" and values.get("class") == "kernel"
        self.tensors += tag == "rect" and values.get("class") == "tensor"
        self.edges += tag == "path" and values.get("class") == "edge"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_page_draws_both_directions(report: dict, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(run("--report=html"))
    # It needs nothing from elsewhere.
    assert not re.search(r"(src|href)\s*=|@import|url\(", page.read_text())
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [BROWSER, *options, profile, "--dump-dom", page.as_uri()]
    drawn = Page(subprocess.run(command, capture_output=True, text=True, timeout=120).stdout)
    assert drawn.drawn
    entries = report["entries"]
    assert drawn.kernels == sum(len(entry["kernels"]) for entry in entries)
    reads = sum(len(kernel["reads"]) for entry in entries for kernel in entry["kernels"])
    outputs = [
        name
        for entry in entries
        for name in entry["outputs"]
        if any(name in kernel["writes"] for kernel in entry["kernels"])
    ]
    assert drawn.edges == reads + len(outputs)
    given = [
        {name for kernel in entry["kernels"] for name in kernel["reads"]}
        - {name for kernel in entry["kernels"] for name in kernel["writes"]}
        for entry in entries
    ]
    assert drawn.tensors == sum(map(len, given)) + len(outputs)
    # 8192 rows of 4096 elements of bf16.
    assert "64.0 MiB" in drawn.texts


def test_page_quotes_what_could_end_its_script(tmp_path: Path) -> None:
    source = tmp_path / "<script>.mlir"
    source.write_text(PROGRAM.read_text())
    command = [COMPILE, source, "--report=html"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    data = text.split('<script type="application/json" id="report">')[1].split("</script>")[0]
    assert "<script>.mlir" in json.dumps(json.loads(data))
    assert "<" not in data


def test_other_formats_are_refused() -> None:
    command = [COMPILE, PROGRAM, "--report=xml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "expected a report as `json`, `text` or `html`, but got `xml`" in done.stderr
