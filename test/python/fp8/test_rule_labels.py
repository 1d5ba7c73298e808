# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each rule of docs/Dialect/Fp8Semantics.md stands in the code and in the name of a test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/Dialect/Fp8Semantics.md"
LABEL = re.compile(r"fp8_([a-z]\d+)\b")
# In a test's name the labels follow one another: fp8_r1_r2.
NAMES = re.compile(r"(?:def test_|@)(fp8(?:_[a-z]\d+)+)")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the sources are elsewhere")


def _read(folder: str, *suffixes: str) -> Iterator[str]:
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in suffixes and "__pycache__" not in path.parts:
            yield path.read_text()


def _defined() -> list[str]:
    """The labels of the page's tables of rules; the last table names them again."""
    text = PAGE.read_text().split("## Where TransformerEngine differs")[0]
    return re.findall(r"^\| `fp8_([a-z]\d+)` \|", text, re.MULTILINE)


def _enforced() -> set[str]:
    sources = [*_read("lib", ".cpp", ".h"), *_read("include", ".h", ".td")]
    return {label for text in sources for label in LABEL.findall(text)}


def _tested() -> set[str]:
    tests = [*_read("test", ".py", ".mlir", ".test"), *_read("unittests", ".cpp")]
    names = [name for text in tests for name in NAMES.findall(text)]
    return {label for name in names for label in re.findall(r"_([a-z]\d+)", name)}


def test_every_rule_is_defined_once():
    labels = _defined()
    assert len(labels) > 20
    assert sorted(set(labels)) == sorted(labels)


def test_every_rule_stands_in_the_code():
    assert _enforced() == set(_defined())


def test_every_rule_has_a_test_of_its_name():
    assert _tested() == set(_defined())
