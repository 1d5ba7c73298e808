# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs under a recipe, with what is between their kernels among the results."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from conformance import runner
from fuseops import emit
from torch import Tensor

from fp8 import rules
from fp8.programs import TARGET, to_numpy

_QUANTIZED = re.compile(r"!fuseops\.quantized<(\d+)x(\d+)x(\w+), scale = (.+), copies = (\w+)>")
_LINE = re.compile(r"\s*(%\w+) = fuseops\.(quantize|linear|matmul) .* -> (.+)$")


def split(text: str) -> list[str]:
    """The parts of `a, b<c, d>, e` between outer commas."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "<([{") - (letter in ">)]}" and text[i - 1 : i + 1] != "->")
        if letter == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


@dataclass(frozen=True)
class Matrix:
    """A quantized matrix: the logical values, in f64, of each copy that there is."""

    row: Tensor | None
    col: Tensor | None
    #: What a value may be off by beyond its relative error, for each element.
    least: Tensor


def read_matrix(kind: str, parts: Sequence[Tensor]) -> Matrix:
    """The matrix of a type from its plain buffers."""
    match = _QUANTIZED.fullmatch(kind)
    assert match
    fmt, scale, copies = match[3], match[4], match[5]
    rule = rules.Rule(scale, fmt)
    values = []
    for data, inverse in zip(parts[::2], parts[1::2], strict=True):
        codes, scales = to_numpy(data), to_numpy(inverse)
        ones = rules.dequantize(torch.full(data.shape, 0x38).byte().numpy(), scales, rule)
        unit = 1.0 if fmt == "f8E4M3FN" else 0.5  # what the code 0x38 is
        least = torch.from_numpy(ones).double() / unit
        value = torch.from_numpy(rules.dequantize(codes, scales, rule)).double()
        values.append((value, least))
    step = 2.0**-10 if fmt == "f8E4M3FN" else 2.0**-17
    row = values[0] if copies != "col" else None
    col = values[-1] if copies != "row" else None
    least = row[1] if row else col[1].t()
    if row and col:
        least = torch.maximum(least, col[1].t())
    return Matrix(row[0] if row else None, col[0] if col else None, least * step)


class Region:
    """One region of a program as a program of its own, which returns its values, what it saves, and
    each quantized tensor and product, in order."""

    def __init__(self, arguments: str, lines: list[str], is_fused: bool) -> None:
        self.types: list[str] = []
        names: list[str] = []
        self.kinds: list[str] = []
        returned = lines[-1].strip().removeprefix("fuseops.return ")
        operands, _, types = returned.partition(" : ")
        operands = re.sub(r"\s*save\((.*)\)", r", \1", operands)
        names += [name for name in split(operands) if name != "none"]
        self.types += split(types)
        for line in lines[:-1]:
            if match := _LINE.match(line):
                names.append(match[1])
                self.kinds.append(match[2])
                self.types.append(match[3].strip())
        frozen = ", ".join(map(str, range(len(names))))
        # Attributes of arguments are of the whole program.
        given = []
        for part in split(arguments):
            name, _, kind = part.removeprefix("saved ").partition(": ")
            given.append(f"{name}: {re.sub(r' {.*}$', '', kind)} {{fuseops.frozen}}")
        text = (
            f"fuseops.fusible @main({', '.join(given)}) -> ({', '.join(self.types)}) "
            f"attributes {{frozen_results = array<i64: {frozen}>}}\nforward {{\n"
            + "\n".join(lines[:-1])
            + f"\n  fuseops.return {', '.join(names)} : {', '.join(self.types)}\n}}\n"
        )
        self.program = runner.compile_ir(text if is_fused else unfuse(text), target=TARGET)

    def run(self, tensors: Sequence[Tensor]) -> tuple[list[Tensor], list[Matrix | Tensor]]:
        """The plain buffers of what it returns and saves, and the exposed values."""
        buffers = list(self.program.forward(*tensors)[0])
        count = len(self.types) - len(self.kinds)
        values: list[Matrix | Tensor] = []
        plain: list[Tensor] = []
        for i, kind in enumerate(self.types):
            match = _QUANTIZED.fullmatch(kind)
            size = 1 if not match else 4 if match[5] == "row_col" else 2
            parts, buffers = buffers[:size], buffers[size:]
            if i < count:
                plain += parts
            else:
                values.append(read_matrix(kind, parts) if match else parts[0].double())
        return plain, values


def unfuse(text: str) -> str:
    """The program with a kernel for each operation."""
    chip = "{chip=sm_90a}" if TARGET == "cuda" else ""
    passes = (
        "builtin.module(fuseops-differentiate,fuseops.fusible("
        f"fuseops-expand-contractions{chip},fuseops-expand-quantized,"
        "fuseops-forward-fusion{fuse=false}),"
        f"convert-fuseops-to-kernels{{target={TARGET}}})"
    )
    command = ["fuse-opt", f"--pass-pipeline={passes}"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


class Exposed:
    """Both regions of a program under a recipe."""

    def __init__(self, source: str, recipe: str, is_fused: bool) -> None:
        text = emit(source, "ir", recipe=recipe, compile_to="saved").decode()
        lines = [line for line in text.splitlines() if line.strip() and line.strip() != "}"]
        starts = [i for i, line in enumerate(lines) if re.match(r"\s*(forward|backward)\b", line)]
        header = next(line for line in lines if "fuseops.fusible @main(" in line)
        arguments = self._in_brackets(header.partition("@main")[2])
        forward, backward = starts
        self.forward = Region(arguments, lines[forward + 1 : backward], is_fused)
        arguments = self._in_brackets(lines[backward].partition("backward ")[2])
        self.backward = Region(arguments, lines[backward + 1 :], is_fused)
        returned = lines[forward + 1 : backward][-1].partition(" save(")[0]
        self.num_results = len(split(returned.strip().removeprefix("fuseops.return ")))

    @staticmethod
    def _in_brackets(text: str) -> str:
        depth = 0
        for i, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if depth == 0:
                return text[1:i]
        raise AssertionError(text)
