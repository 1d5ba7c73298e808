#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs through `fuse-run --check` and prints the failing seeds.

Each seed is one program: 3 to 30 operations of every family over shapes of
rank 1 to 4 with odd, unit and dynamic extents, broadcasts of every kind, mixed
element types, values used and returned more than once, slices of slices and
applied fusibles. Half of the programs train; the others are forward only and
also hold what has no gradient (statistics, maxima, FP8).

A random program may be badly conditioned (a norm of three elements, a
difference of equal numbers), where a right kernel exceeds the tolerance by a
small factor; wrong kernels are wrong by orders of magnitude. So an error within
`--slack` tolerances passes.

    scripts/random_programs.py --count 200 --seed 0
    scripts/random_programs.py --seed 17 --count 1 --print
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

BIN = Path(__file__).resolve().parents[1] / "build" / "dev" / "bin"
DYNAMIC = "?"
FP8 = ("f8E4M3FN", "f8E5M2")
# How often each element type is drawn; a program draws one of these rows.
PROFILES = (("f32",), ("f32",), ("f64",), ("bf16", "f32"), ("f16", "f32"))
PROFILES += (("bf16", "f16", "f32", "f64"),)
COLUMNS = (1, 2, 3, 4, 7, 8, 16, 33, 64, 96, 130, 256)
ROWS = (DYNAMIC, DYNAMIC, DYNAMIC, 1, 2, 5, 16)

# What the compiler refuses in a sentence, and a program may ask for.
LIMITS = (
    "cannot reduce a gradient of type",
    "over some leading dimensions, where only the first of",
    "reduces f64 values, which no CUDA kernel template does",
    "on `f64` has no expansion for CUDA chips",
)

Shape = tuple


@dataclass(frozen=True)
class Value:
    """A value of the program: how it is written, and whether gradients of it
    exist."""

    name: str
    shape: Shape
    dtype: str
    trains: bool = True

    @property
    def type(self) -> str:
        return tensor(self.shape, self.dtype)


def tensor(shape: Shape, dtype: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"


def quantized(shape: Shape, dtype: str, scale: str) -> str:
    extents = "x".join([*map(str, shape), dtype])
    return f"!fuseops.quantized<{extents}, scale = {scale}, copies = row>"


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape that both broadcast to; none if there is none."""
    length = max(len(a), len(b))
    result = []
    padded = ((1,) * (length - len(shape)) + shape for shape in (a, b))
    for x, y in zip(*padded, strict=True):
        if x != y and 1 not in (x, y):
            return None
        result.append(y if x == 1 else x)
    return tuple(result) if result.count(DYNAMIC) <= 1 else None


class Program:
    """Writes one program, one line an operation."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtypes = self.random.choice(PROFILES)
        self.trains = self.random.random() < 0.6
        self.columns = self.random.choice(COLUMNS)
        rows = self.random.choice(ROWS)
        middle = self.random.choice(((), (), (1,), (3,), (4,), (2, 3)))
        self.shape = (rows, *middle, self.columns)
        if middle and self.random.random() < 0.3:
            self.shape = (*middle, rows, self.columns)
        if self.random.random() < 0.05:
            self.shape = (self.columns,)
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.callees: list[str] = []
        self.count = 0

    def dtype(self) -> str:
        return self.random.choice(self.dtypes)

    def pick(self, wanted: Callable[[Value], bool] = lambda value: True) -> Value | None:
        """A value, more likely a late one; the program's first if none is right."""
        found = [value for value in self.values if wanted(value)]
        if not found:
            return None
        return found[-1 - min(int(self.random.expovariate(0.4)), len(found) - 1)]

    def argument(self, shape: Shape, dtype: str | None = None, attrs: str = "") -> Value:
        trains = self.trains and not attrs
        if (not self.trains and not attrs) or (trains and self.random.random() < 0.1):
            attrs = "{fuseops.frozen}"
        value = Value(f"%a{len(self.arguments)}", shape, dtype or self.dtype())
        self.arguments.append(f"{value.name}: {value.type} {attrs}".rstrip())
        return value

    def emit(self, text: str, *results: Value) -> None:
        """Adds a line; `results` are named in order."""
        names = [f"%v{self.count + i}" for i in range(len(results))]
        self.count += len(results)
        self.lines.append(f"{', '.join(names)} = {text}")
        for name, value in zip(names, results, strict=True):
            self.values.append(replace(value, name=name))

    # Operations. Each takes an input and may do nothing where it does not fit.

    def unary(self, x: Value) -> None:
        # relu's gradient jumps: a rounded input may be on the other side.
        exact = x.dtype in ("f32", "f64")
        names = ["silu", "gelu {} approximate(none)", "gelu {} approximate(tanh)"]
        names += ["scale {} by(0.75)", "scale {} by(-1.25)"] + ["relu"] * exact
        name = self.random.choice(names)
        text = name.format(x.name) if "{}" in name else f"{name} {x.name}"
        self.emit(f"fuseops.{text} : {x.type}", x)

    def unary_grad(self, x: Value) -> None:
        if self.trains or x.dtype not in ("f32", "f64"):
            return
        dy = self.pick(lambda value: value.type == x.type) or x
        name, tail = self.random.choice(
            (("silu_grad", ""), ("relu_grad", ""), ("gelu_grad", " approximate(none)"))
        )
        self.emit(f"fuseops.{name} {dy.name}, {x.name}{tail} : {x.type}", x)

    def cast(self, x: Value) -> None:
        y = replace(x, dtype=self.dtype())
        self.emit(f"fuseops.cast {x.name} : {x.type} -> {y.type}", y)

    def binary(self, x: Value) -> None:
        def fits(value: Value) -> bool:
            shape = broadcast(x.shape, value.shape)
            return shape is not None and shape.count(DYNAMIC) <= 1

        y = self.pick(fits) if self.random.random() < 0.6 else None
        if y is None:
            # Drop leading extents and make some of the others 1.
            start = self.random.randint(0, len(x.shape))
            shape = [1 if self.random.random() < 0.35 else e for e in x.shape[start:]]
            y = self.argument(tuple(shape))
        name = self.random.choice(("add", "add", "mul"))
        result = Value("", broadcast(x.shape, y.shape), self.dtype(), x.trains and y.trains)
        if self.random.random() < 0.5:
            x, y = y, x
        self.emit(
            f"fuseops.{name} {x.name}, {y.name} : {x.type}, {y.type} -> {result.type}", result
        )

    def bias(self, x: Value) -> None:
        if x.shape:
            b = self.argument((x.shape[-1],)) if x.shape[-1] != DYNAMIC else None
            if b:
                self.emit(f"fuseops.bias {x.name}, {b.name} : {x.type}, {b.type}", x)

    def norm(self, x: Value) -> None:
        if not x.shape or x.shape[-1] == DYNAMIC or x.shape[-1] < 3:
            return
        is_layer = self.random.random() < 0.5
        operands = [x]
        text = f"fuseops.{'layer' if is_layer else 'rms'}_norm {x.name}"
        for name in ("gamma", "beta")[: 1 + is_layer]:
            if self.random.random() < 0.6:
                operands.append(self.argument((x.shape[-1],)))
                text += f" {name}({operands[-1].name})"
        text += " eps(0.01)"
        if "gamma" in text and self.random.random() < 0.3:
            text += " zero_centered_gamma"
        stat = Value("", (*x.shape[:-1], 1), "f64" if x.dtype == "f64" else "f32", not self.trains)
        results = [x, *[stat] * (1 + is_layer)]
        types = ", ".join(value.type for value in operands)
        outputs = ", ".join(value.type for value in results)
        self.emit(f"{text} : ({types}) -> ({outputs})", *results)

    def glu(self, x: Value) -> None:
        if not x.shape or x.shape[-1] == DYNAMIC or x.shape[-1] % 2:
            return
        y = replace(x, shape=(*x.shape[:-1], x.shape[-1] // 2))
        name = self.random.choice(("swiglu", "geglu"))
        order = self.random.choice(("first", "last"))
        self.emit(f"fuseops.{name} {x.name} activation({order}) : {x.type} -> {y.type}", y)

    def slice(self, x: Value) -> None:
        if not x.shape or x.shape[-1] in (DYNAMIC, 1):
            return
        width = self.random.randint(1, x.shape[-1] - 1)
        offset = self.random.randint(0, x.shape[-1] - width)
        y = replace(x, shape=(*x.shape[:-1], width))
        self.emit(f"fuseops.slice {x.name} dim({len(x.shape) - 1}) offset({offset}) : {x.type} -> {y.type}", y)

    def concat(self, x: Value) -> None:
        if not x.shape or x.shape[-1] == DYNAMIC:
            return

        def fits(value: Value) -> bool:
            return value.shape[:-1] == x.shape[:-1] and value.dtype == x.dtype and value.shape != ()

        parts = [x] + [self.pick(fits) for _ in range(self.random.randint(0, 2))]
        self.random.shuffle(parts)
        if any(part.shape[-1] == DYNAMIC for part in parts):
            return
        columns = sum(part.shape[-1] for part in parts)
        if columns > 600:
            return
        y = replace(x, shape=(*x.shape[:-1], columns), trains=all(part.trains for part in parts))
        names = ", ".join(part.name for part in parts)
        types = ", ".join(part.type for part in parts)
        self.emit(f"fuseops.concat {names} dim({len(y.shape) - 1}) : ({types}) -> {y.type}", y)

    def reduce(self, x: Value) -> None:
        if not x.shape or x.shape[-1] == DYNAMIC:
            return
        kind = "sum" if self.trains else self.random.choice(("sum", "max"))
        dtype = self.random.choice(("f32", "f64")) if "f64" in self.dtypes else "f32"
        if self.random.random() < 0.5:
            y = Value("", (*x.shape[:-1], 1), dtype, x.trains)
            self.emit(f"fuseops.reduce_columns {kind} {x.name} : {x.type} -> {y.type}", y)
            return
        if len(x.shape) < 2:
            return
        columns = x.shape[-1]
        shape = () if columns == 1 and self.random.random() < 0.5 else (columns,)
        y = Value("", shape, dtype, x.trains)
        self.emit(f"fuseops.reduce_rows {kind} {x.name} : {x.type} -> {y.type}", y)

    def reshape(self, x: Value) -> None:
        shape = x.shape
        choices = []
        if shape.count(DYNAMIC) == 0 or (shape and shape[0] == DYNAMIC):
            fixed = shape[1:] if shape and shape[0] == DYNAMIC else shape
            lead = shape[: len(shape) - len(fixed)]
            total = 1
            for extent in fixed:
                total *= extent
            for divisor in (2, 3, 4):
                if total % divisor == 0:
                    choices.append((*lead, divisor, total // divisor))
                    choices.append((*lead, total // divisor, divisor))
            choices.append((*lead, total))
        if shape:
            choices.append((*shape[:-1], 1, shape[-1]))
        if 1 in shape:
            one = shape.index(1)
            choices.append((*shape[:one], *shape[one + 1 :]))
        choices = [c for c in choices if len(c) <= 5 and (not c or c[-1] != DYNAMIC)]
        if not choices:
            return
        y = replace(x, shape=self.random.choice(choices))
        self.emit(f"fuseops.reshape {x.name} : {x.type} -> {y.type}", y)

    def linear(self, x: Value) -> None:
        if len(x.shape) < 2 or x.shape[-1] == DYNAMIC or x.dtype == "f64":
            return
        n = self.random.choice((1, 3, 8, 17, self.columns))
        w = self.argument((n, x.shape[-1]), x.dtype)
        y = replace(x, shape=(*x.shape[:-1], n))
        if self.random.random() < 0.5:
            self.emit(f"fuseops.linear {x.name}, {w.name} : ({x.type}, {w.type}) -> {y.type}", y)
        else:
            b = self.argument((n,), x.dtype)
            self.emit(
                f"fuseops.linear {x.name}, {w.name} bias({b.name}) : "
                f"({x.type}, {w.type}, {b.type}) -> {y.type}",
                y,
            )

    def dropout(self, x: Value) -> None:
        state = self.argument((2,), "i64", "{fuseops.random_state}")
        self.emit(f"fuseops.dropout {x.name}, {state.name} p(0.25) : {x.type}, {state.type}", x)

    def pointwise(self, x: Value) -> None:
        """Two results of different element types from one to three operands."""

        def fits(value: Value) -> bool:
            shape = broadcast(x.shape, value.shape)
            return shape == x.shape and value.dtype != "f64"

        if x.dtype == "f64":
            return
        operands = [x] + [self.pick(fits) for _ in range(self.random.randint(0, 2))]
        trains = all(value.trains for value in operands)
        names = [f"%o{i}" for i in range(len(operands))]
        dtypes = [dtype for dtype in self.dtypes if dtype != "f64"] or ["f32"]
        results = [
            Value("", x.shape, self.random.choice(dtypes), trains)
            for _ in range(self.random.randint(1, 2))
        ]
        body, scalars = [], list(names)
        for i in range(self.random.randint(1, 5)):
            a, b = self.random.choice(scalars), self.random.choice(scalars)
            body.append(
                f"%s{i} = "
                + self.random.choice(
                    (
                        f"arith.addf {a}, {b} : f32",
                        f"arith.subf {a}, {b} : f32",
                        f"arith.mulf {a}, {b} : f32",
                        f"math.tanh {a} : f32",
                        f"arith.negf {a} : f32",
                    )
                )
            )
            scalars.append(f"%s{i}")
        if not self.trains and self.random.random() < 0.3:
            body += [
                "%i = fuseops.linear_index : i64",
                "%f = arith.sitofp %i : i64 to f32",
                "%c = arith.constant 0.0078125 : f32",
                "%h = arith.mulf %f, %c : f32",
                f"%g = arith.addf %h, {scalars[-1]} : f32",
            ]
            scalars.append("%g")
        bound = ", ".join(f"{n} = {v.name}" for n, v in zip(names, operands, strict=True))
        types = ", ".join(value.type for value in operands)
        outputs = ", ".join(value.type for value in results)
        yielded = [scalars[-1 - i] for i in range(len(results))]
        body.append(f"fuseops.yield {', '.join(yielded)} : {', '.join(['f32'] * len(results))}")
        inner = "\n    ".join(body)
        self.emit(
            f"fuseops.pointwise ({bound}) : ({types}) -> ({outputs}) {{\n    {inner}\n  }}",
            *results,
        )
        if len(results) == 2:
            line = self.lines[-1]
            first, second = self.values[-2:]
            pack = f"%p{self.count}"
            self.lines[-1] = line.replace(f"{first.name}, {second.name} =", f"{pack}:2 =", 1)
            self.values[-2:] = [
                replace(first, name=f"{pack}#0"),
                replace(second, name=f"{pack}#1"),
            ]

    def quantize(self, x: Value) -> None:
        if self.trains or len(x.shape) != 2 or x.shape[1] == DYNAMIC or x.dtype == "f64":
            return
        form = self.random.choice(FP8)
        scale = self.random.choice(("per_tensor", "per_row"))
        kind = quantized(x.shape, form, scale)
        names = [f"%q{self.count}_{i}" for i in range(3)]
        if scale == "per_tensor":
            power = self.random.choice(("", " power_of_two"))
            self.lines += [
                f"{names[0]} = fuseops.amax {x.name} : {x.type} -> tensor<f32>",
                f"{names[1]} = fuseops.compute_scale {names[0]} format({form}){power} "
                ": tensor<f32>",
                f"{names[2]} = fuseops.quantize {x.name} scale({names[1]}) : "
                f"({x.type}, tensor<f32>) -> {kind}",
            ]
        else:
            self.lines.append(f"{names[2]} = fuseops.quantize {x.name} : ({x.type}) -> {kind}")
        y = replace(x, dtype="f32")
        self.emit(f"fuseops.dequantize {names[2]} : {kind} -> {y.type}", y)

    def apply(self, x: Value) -> None:
        """A private fusible of its own, used once or twice."""
        name = f"callee{len(self.callees)}"
        nested = (
            f"  %2 = fuseops.apply @{name}_inner(%1) : ({x.type}) -> {x.type}\n"
            if self.random.random() < 0.3
            else f"  %2 = fuseops.scale %1 by(0.5) : {x.type}\n"
        )
        if "apply" in nested:
            self.callees.append(
                f"fuseops.fusible @{name}_inner(%x: {x.type}) -> {x.type} "
                'attributes {sym_visibility = "private"}\n'
                f"forward {{\n  %0 = fuseops.silu %x : {x.type}\n"
                f"  fuseops.return %0 : {x.type}\n}}\n"
            )
        self.callees.append(
            f"fuseops.fusible @{name}(%x: {x.type}, %y: {x.type}) -> ({x.type}, {x.type}) "
            'attributes {sym_visibility = "private"}\nforward {\n'
            f"  %0 = fuseops.mul %x, %y : {x.type}, {x.type} -> {x.type}\n"
            f"  %1 = fuseops.gelu %0 approximate(tanh) : {x.type}\n{nested}"
            f"  fuseops.return %2, %x : {x.type}, {x.type}\n}}\n"
        )
        y = self.pick(lambda value: value.type == x.type and value.trains) or x
        pack = f"%m{self.count}"
        self.count += 1
        self.lines.append(
            f"{pack}:2 = fuseops.apply @{name}({x.name}, {y.name}) : "
            f"({x.type}, {x.type}) -> ({x.type}, {x.type})"
        )
        trains = x.trains and y.trains
        self.values.append(replace(x, name=f"{pack}#0", trains=trains))
        self.values.append(replace(x, name=f"{pack}#1", trains=trains))

    def write(self) -> str:
        """The program's text."""
        r = self.random
        self.values.append(self.argument(self.shape))
        if r.random() < 0.5:
            self.values.append(self.argument(self.shape))
        steps = [self.unary, self.unary_grad, self.cast, self.binary, self.binary, self.bias]
        steps += [self.norm, self.glu, self.slice, self.concat, self.reduce, self.reshape]
        steps += [self.linear, self.dropout, self.pointwise, self.quantize, self.apply]
        for _ in range(r.randint(3, 30)):
            x = self.pick(lambda value: value.trains or not self.trains)
            if self.trains and not x.trains:
                continue
            r.choice(steps)(x)
        results = [value for value in self.values if r.random() < 0.15]
        results.append(self.values[-1])
        results.append(self.pick(lambda value: value.trains))
        if r.random() < 0.2:
            results.append(r.choice(results))
        frozen = [i for i, value in enumerate(results) if self.trains and not value.trains]
        if not self.trains:
            frozen = []
        attrs = (
            f" attributes {{frozen_results = array<i64: {', '.join(map(str, frozen))}>}}"
            if frozen
            else ""
        )
        types = ", ".join(value.type for value in results)
        names = ", ".join(value.name for value in results)
        body = "\n  ".join([*self.lines, f"fuseops.return {names} : {types}"])
        return (
            "".join(self.callees)
            + f"fuseops.fusible @main({', '.join(self.arguments)}) -> ({types}){attrs}\n"
            + f"forward {{\n  {body}\n}}\n"
        )


def check(options: argparse.Namespace, seed: int, folder: Path) -> str:
    """What is wrong with the program of this seed; empty if nothing."""
    path = folder / f"{seed}.mlir"
    path.write_text(Program(seed).write())
    size = random.Random(seed).choice((1, 2, 7, 64, 129))
    run = subprocess.run(
        [
            options.bin / "fuse-run",
            path,
            f"--target={options.target}",
            f"--size={size}",
            "--check",
            "--json",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if not run.stdout.lstrip().startswith("{"):
        lines = run.stderr.strip().splitlines() or ["no output"]
        if run.returncode == 1 and any(limit in lines[0] for limit in LIMITS):
            return ""
        return f"size {size}: exit {run.returncode}: {lines[0][:300]}"
    report = json.loads(run.stdout)
    wrong = []
    for found in report["check"]["tensors"]:
        error = found["error"]
        # A difference of equal numbers: the reference is 0 but for rounding.
        if found.get("rms", 1) < 1e-5:
            continue
        # No error is an infinite one: what overflows f16 is finite in f64.
        if error is None and found["dtype"] == "f16":
            continue
        if not isinstance(error, (int, float)) or error > options.slack * found["tolerance"]:
            wrong.append(
                f"{found['entry']} {found['name']} {found['dtype']}: "
                f"error {error}, tolerance {found['tolerance']:.2e}"
            )
    return f"size {size}: " + "; ".join(wrong) if wrong else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="programs to run")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--target", default="cpu", help="target of fuse-run")
    parser.add_argument("--slack", type=float, default=10, help="tolerances that an error may be")
    parser.add_argument("--bin", type=Path, default=BIN, help="folder of the tools")
    parser.add_argument("--jobs", type=int, default=1, help="programs that run at once")
    parser.add_argument("--print", action="store_true", help="print the programs, run nothing")
    parser.add_argument("--keep", type=Path, help="folder to write the programs to")
    options = parser.parse_args()
    if options.print:
        for seed in range(options.seed, options.seed + options.count):
            print(f"// seed {seed}\n{Program(seed).write()}")
        return 0
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        seeds = range(options.seed, options.seed + options.count)

        def run(seed: int) -> str:
            return check(options, seed, folder)

        with ThreadPoolExecutor(options.jobs) as pool:
            for seed, problem in zip(seeds, pool.map(run, seeds), strict=True):
                if problem:
                    failures += 1
                    print(f"seed {seed}: {problem}", flush=True)
    print(f"{options.count - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
