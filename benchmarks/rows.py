# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of benchmarks/programs.json: what is measured, at which sizes.

Each fusible of a program's file is measured, but for those that another one
applies. A program is written for the columns of its first size; for another
number of columns all extents that are multiples of the first are scaled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LISTING: dict[str, Any] = json.loads((ROOT / "benchmarks" / "programs.json").read_text())


@dataclass(frozen=True)
class Case:
    """One fusible under one recipe at one size."""

    name: str
    program: Path
    entry: str
    recipe: str
    # The value of `?`, and the number of columns where the program can have others.
    shape: tuple[int, ...]
    written_columns: int | None
    # Of the plain tensors.
    dtype: str = "bf16"
    # Whether contractions are kernels of ours.
    generates_products: bool = False

    @property
    def rows(self) -> int:
        return self.shape[0]

    @property
    def is_two_pass(self) -> bool:
        """Whether all must have been read before anything can be written."""
        return self.name in LISTING["two_pass"]

    def at(self, *shape: int) -> Case:
        """The same at another size; the columns may be left out."""
        return replace(self, shape=(*shape, *self.shape[len(shape) :]))

    def source(self) -> str:
        """The program's text for this number of columns."""
        text = re.sub(r"\bbf16\b|(?<=x)bf16\b", self.dtype, self.program.read_text())
        if self.written_columns is None or self.written_columns == self.shape[1]:
            return text

        def scale(match: re.Match[str]) -> str:
            multiple, rest = divmod(int(match[0]), self.written_columns)
            return match[0] if rest or not multiple else str(multiple * self.shape[1])

        # Extents stand before an `x`, the first column of a slice in `offset(…)`.
        return re.sub(r"(?<=[<x])\d+(?=x)|(?<=offset\()\d+", scale, text)

    def checked_source(self) -> str:
        """The program that `--check` compares with the reference. A scale that is a
        power of two jumps by 2 where the reference, in f64, is on the other side of
        one, so that these are compared as scales that do not."""
        return self.source().replace(" {power_of_two}", "")

    def program_of_entry(self) -> str:
        """The text of this fusible alone, aliases of types spelled out."""
        text = self.program.read_text()
        aliases = dict(re.findall(r"^(!\w+) = (.*)$", text, re.MULTILINE))
        start = text.index(f"@{self.entry}(")
        body = text[start : text.find("fuseops.fusible", start) % (len(text) + 1)]
        return re.sub(r"!\w+", lambda match: aliases.get(match[0], match[0]), body)

    def write(self, folder: Path, source: str | None = None) -> list[str]:
        """Writes the program; returns the arguments that the tools need for it."""
        path = folder / f"{self.program.stem}-{'x'.join(map(str, self.shape))}.mlir"
        path.write_text(self.source() if source is None else source)
        arguments = [str(path), f"--recipe={self.recipe}"]
        arguments += ["--generate-products"] if self.generates_products else []
        return [*arguments, f"--entry={self.entry}"] if self.entry else arguments

    def row_name(self, direction: str, is_alone: bool) -> str:
        """The name of the row of one direction, which may be all that has kernels."""
        if is_alone:
            return self.name
        base, dot, variant = self.name.partition(".")
        name = f"{base}_{'fwd' if direction == 'forward' else 'bwd'}{dot}{variant}"
        return LISTING["names"].get(name, name)


def list_cases(only: str = "", sizes: str = "sizes") -> Iterator[Case]:
    """All cases whose name contains `only`, in the order of the listing, at the sizes
    that a program has under the key `sizes`."""
    for program in LISTING["programs"]:
        path = ROOT / program["program"]
        text = path.read_text()
        applied = set(re.findall(r"fuseops\.apply @([\w.]+)", text))
        # A program of torch IR is one by itself and named as its file.
        entries = re.findall(r"^\s*fuseops\.fusible @([\w.]+)", text, re.MULTILINE)
        for entry in entries or [""]:
            if entry in applied:
                continue
            for variant, recipe in program.get("recipes", {"": "none"}).items():
                name = ".".join(filter(None, (entry or path.stem, variant)))
                for shape in program.get(sizes, []):
                    columns = program["sizes"][0][1] if len(shape) > 1 else None
                    if only in name:
                        yield Case(name, path, entry, recipe, tuple(shape), columns)


def measured_entries(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of a report that run kernels."""
    return [entry for entry in report["entries"] if entry["kernels"]]
