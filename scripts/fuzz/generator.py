# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random programs of the FuseOps dialect: one seed, one program.

A program has 10 to 40 operations of every family over shapes of rank 0 to 4
with odd, unit and dynamic extents, broadcasts of every kind, mixed element
types, masks and integers, values with several consumers, residuals, and applied
fusibles. Most programs train; the others also hold what has no gradient.

What would make right programs differ is left out: a value that is not exact
(the same in every precision) is neither compared nor truncated to an integer,
and values are scaled down before they leave the range of f16.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from fuzz.bodies import BodyWriter
from fuzz.values import DYNAMIC, FLOATS, INTEGERS, LayoutOps, Value, broadcast, quantized


class RowOps(LayoutOps):
    """Operations over rows and columns: norms, softmax, reductions."""

    def has_columns(self, x: Value, least: int = 1) -> bool:
        return bool(x.shape) and x.shape[-1] != DYNAMIC and x.shape[-1] >= least

    def stat(self, x: Value) -> Value:
        """A statistic of each row: it has no gradient."""
        dtype = "f64" if x.dtype == "f64" else "f32"
        return replace(x, shape=(*x.shape[:-1], 1), dtype=dtype, trains=False, exact=False)

    def norm(self, x: Value) -> None:
        if not x.is_float or not self.has_columns(x, 3):
            return
        x = self.tame(x)
        is_layer = self.chance(0.5)
        operands = [x]
        text = f"fuseops.{'layer' if is_layer else 'rms'}_norm {x.name}"
        for name in ("gamma", "beta")[: 1 + is_layer]:
            if self.chance(0.6):
                operands.append(self.argument((x.shape[-1],)))
                text += f" {name}({operands[-1].name})"
        text += " eps(0.01)"
        if "gamma" in text and self.chance(0.3):
            text += " zero_centered_gamma"
        results = [self.made(*operands, size=3.0), *[self.stat(x)] * (1 + is_layer)]
        types = ", ".join(value.type for value in operands)
        outputs = ", ".join(value.type for value in results)
        self.emit(f"{text} : ({types}) -> ({outputs})", *results)

    def l2_norm(self, x: Value) -> None:
        if x.is_float and self.has_columns(x, 2):
            x = self.tame(x)
            results = [self.made(x, size=1.0), self.stat(x)]
            self.emit(
                f"fuseops.l2_norm {x.name} eps(0.01) : {x.type} -> "
                f"({results[0].type}, {results[1].type})",
                *results,
            )

    def softmax(self, x: Value) -> None:
        if not x.is_float or not self.has_columns(x, 2):
            return
        x = self.tame(x)
        name = self.random.choice(("softmax", "log_softmax"))
        y = self.made(x, size=1.0 if name == "softmax" else x.size + 5)
        self.emit(f"fuseops.{name} {x.name} : {x.type} -> {y.type}", y)

    def remainders(self, x: Value, divisor: int) -> Value:
        """Integers of `x` as numbers from 0 to below the divisor."""
        body = [
            f"%n = arith.constant {divisor} : i64",
            "%r = arith.remui %t, %n : i64",
            "fuseops.yield %r : i64",
        ]
        (y,) = self.emit(
            f"fuseops.pointwise (%t = {x.name}) : ({x.type}) -> {x.type} "
            "{\n    " + "\n    ".join(body) + "\n  }",
            x,
        )
        return y

    def cross_entropy(self, x: Value) -> None:
        if not x.is_float or not self.has_columns(x, 2):
            return
        x = self.tame(x)
        target = self.argument((*x.shape[:-1], 1), "i64")
        classes = x.shape[-1]
        target = self.remainders(target, classes)
        dtype = "f64" if x.dtype == "f64" else "f32"
        loss = self.made(x, shape=(*x.shape[:-1], 1), dtype=dtype, size=x.size + 5)
        smoothing = self.random.choice(("0.0", "0.1"))
        self.emit(
            f"fuseops.cross_entropy {x.name}, {target.name} ignore_index(-100) "
            f"label_smoothing({smoothing}) : {x.type}, {target.type} -> ({loss.type}, {loss.type})",
            loss,
            replace(loss, trains=False),
        )

    def reduce(self, x: Value) -> None:
        if not self.has_columns(x):
            return
        # The gradient of a maximum goes to another element where values tie.
        kinds = ["sum"] if x.is_float and self.trains and not x.exact else ["sum", "max", "min"]
        kind = self.random.choice(kinds)
        if not x.is_float:
            if x.dtype == "i1":
                return
            dtype = "i64" if kind == "sum" else x.dtype
        elif kind == "sum":
            x = self.tame(x)
            dtype = "f64" if "f64" in self.dtypes and self.chance(0.5) else "f32"
        else:
            dtype = x.dtype
        grows = 20.0 if kind == "sum" else 1.0
        exact = not x.is_float or (kind != "sum" and x.exact)
        if self.chance(0.5) or len(x.shape) < 2:
            name, shape = "reduce_columns", (*x.shape[:-1], 1)
        else:
            name, shape = "reduce_rows", (x.shape[-1],)
        y = self.made(x, shape=shape, dtype=dtype, exact=exact, size=x.size * grows)
        self.emit(f"fuseops.{name} {kind} {x.name} : {x.type} -> {y.type}", y)


class Program(RowOps):
    """Draws the operations."""

    def unary(self, x: Value) -> None:
        if not x.is_float:
            return
        x = self.tame(x)
        names = ["silu", "gelu {} approximate(none)", "gelu {} approximate(tanh)", "qgelu"]
        names += ["scale {} by(0.75)", "scale {} by(-1.25)", "identity"]
        # The gradient of relu jumps at 0.
        if x.exact or x.dtype in ("f32", "f64"):
            names += ["relu", "srelu"] if x.shape else ["relu"]
        name = self.random.choice(names)
        text = name.format(x.name) if "{}" in name else f"{name} {x.name}"
        size = x.size**2 if name == "srelu" else 1.25 * x.size
        self.emit(f"fuseops.{text} : {x.type}", self.made(x, size=size))

    def unary_grad(self, x: Value) -> None:
        if self.trains or x.dtype not in ("f32", "f64"):
            return
        dy = self.pick(lambda value: value.type == x.type) or x
        name, tail = self.random.choice(
            (("silu_grad", ""), ("relu_grad", ""), ("gelu_grad", " approximate(none)"))
        )
        y = self.made(x, dy, size=2 * dy.size)
        self.emit(f"fuseops.{name} {dy.name}, {x.name}{tail} : {x.type}", y)

    def cast(self, x: Value) -> None:
        """Between floats; exact to a wider type only."""
        if x.is_float:
            x = self.tame(x)
            dtype = self.dtype()
            exact = x.exact and FLOATS.index(dtype) >= FLOATS.index(x.dtype) >= 2
            y = replace(x, dtype=dtype, exact=exact)
            self.emit(f"fuseops.cast {x.name} : {x.type} -> {y.type}", y)

    def binary(self, x: Value) -> None:
        if not x.is_float:
            return
        x = self.tame(x)
        y = self.operand(x, lambda value: value.is_float)
        name = self.random.choice(("add", "add", "mul"))
        size = x.size + y.size if name == "add" else x.size * y.size
        shape = broadcast(x.shape, y.shape)
        result = self.made(x, y, shape=shape, dtype=self.dtype(), size=size)
        if self.chance(0.5):
            x, y = y, x
        self.emit(
            f"fuseops.{name} {x.name}, {y.name} : {x.type}, {y.type} -> {result.type}", result
        )

    def residual(self, x: Value) -> None:
        """Adds a value of the same shape from further back."""
        found = [v for v in self.values if v.shape == x.shape and v.is_float and self.usable(v)]
        if x.is_float and found:
            x, y = self.tame(x), self.tame(self.random.choice(found))
            result = self.made(x, y, size=x.size + y.size)
            self.emit(
                f"fuseops.add {x.name}, {y.name} : {x.type}, {y.type} -> {result.type}", result
            )

    def bias(self, x: Value) -> None:
        if x.is_float and self.has_columns(x):
            b = self.argument((x.shape[-1],))
            y = self.made(x, b, size=x.size + 1)
            self.emit(f"fuseops.bias {x.name}, {b.name} : {x.type}, {b.type}", y)

    def glu(self, x: Value) -> None:
        if not x.is_float or not self.has_columns(x, 2) or x.shape[-1] % 2:
            return
        x = self.tame(x)
        half = x.shape[-1] // 2
        names = ["swiglu", "glu", "geglu", "geglu {} approximate(none)", "qgeglu"]
        names += ["situglu {} beta1(4.0) beta2(25.0)"]
        if x.exact or x.dtype in ("f32", "f64"):
            names += ["reglu", "sreglu", "clamped_swiglu {} limit(1.5) alpha(1.702) offset(1.0)"]
        name, _, tail = self.random.choice(names).partition(" {}")
        y = self.made(x, shape=(*x.shape[:-1], half), size=x.size**2 + x.size)
        scale, types = "", x.type
        if self.chance(0.3):
            factor = self.argument((*x.shape[:-1], 1), "f64" if x.dtype == "f64" else "f32")
            scale, types = f" scale({factor.name})", f"{x.type}, {factor.type}"
            y = replace(y, trains=y.trains and factor.trains)
        order = self.random.choice(("first", "last"))
        blocks = [n for n in (1, 2, 4, 8, 32) if half % n == 0]
        interleave = f" interleave({self.random.choice(blocks)})" if self.chance(0.3) else ""
        self.emit(
            f"fuseops.{name} {x.name}{scale}{tail} activation({order}){interleave} : "
            f"{types} -> {y.type}",
            y,
        )

    def linear(self, x: Value) -> None:
        if not x.is_float or not self.has_columns(x) or len(x.shape) < 2 or x.dtype == "f64":
            return
        x = self.tame(x)
        n = self.random.choice((1, 3, 8, 17, self.columns))
        operands = [x, self.argument((n, x.shape[-1]), x.dtype)]
        text = f"fuseops.linear {x.name}, {operands[1].name}"
        if self.chance(0.5):
            operands.append(self.argument((n,), x.dtype))
            text += f" bias({operands[2].name})"
        y = self.made(*operands, shape=(*x.shape[:-1], n), size=2 * x.size)
        types = ", ".join(value.type for value in operands)
        self.emit(f"{text} : ({types}) -> {y.type}", y)

    def grouped_linear(self, x: Value) -> None:
        """Groups that may be empty, and fewer or more rows than there are."""
        if not x.is_float or not self.has_columns(x) or len(x.shape) < 2 or x.dtype == "f64":
            return
        x = self.tame(x)
        groups, n = self.random.choice((1, 2, 3)), self.random.choice((1, 3, 8, 17))
        sizes = self.remainders(self.argument((groups,), "i64"), self.random.choice((2, 4, 8)))
        operands = [x, self.argument((groups, n, x.shape[-1]), x.dtype), sizes]
        text = f"fuseops.grouped_linear {x.name}, {operands[1].name} sizes({sizes.name})"
        if self.chance(0.5):
            operands.append(self.argument((groups, n), x.dtype))
            text += f" bias({operands[-1].name})"
            if self.chance(0.4):
                operands.append(self.argument((*x.shape[:-1], 1), "f32"))
                text += f" bias_scale({operands[-1].name})"
        y = self.made(*operands, shape=(*x.shape[:-1], n), size=2 * x.size)
        types = ", ".join(value.type for value in operands)
        self.emit(f"{text} : ({types}) -> {y.type}", y)

    def matmul(self, x: Value) -> None:
        """A product of two matrices, any of them transposed."""
        if not x.is_float or len(x.shape) != 2 or x.shape[1] == DYNAMIC or x.dtype == "f64":
            return
        x = self.tame(x)
        transposes = x.shape[0] != DYNAMIC and self.chance(0.3)
        m, k = reversed(x.shape) if transposes else x.shape
        n = self.random.choice((1, 5, 8, self.columns))
        flips = self.chance(0.5)
        w = self.argument((n, k) if flips else (k, n), x.dtype)
        y = self.made(x, w, shape=(m, n), size=2 * x.size)
        words = " transpose_lhs" * transposes + " transpose_rhs" * flips
        self.emit(f"fuseops.matmul {x.name}, {w.name}{words} : {x.type}, {w.type} -> {y.type}", y)

    def rotary_embedding(self, x: Value) -> None:
        if not x.is_float or not self.has_columns(x, 2) or x.shape[-1] % 2:
            return
        x = self.tame(x)
        start = self.random.randrange(len(x.shape))
        lead = tuple(1 if self.chance(0.35) else extent for extent in x.shape[start:-1])
        angles = [self.argument((*lead, x.shape[-1] // 2)) for _ in ("cosine", "sine")]
        y = self.made(x, *angles, size=2 * x.size)
        names = ", ".join(value.name for value in (x, *angles))
        types = ", ".join(value.type for value in (x, *angles))
        pairs = self.random.choice(("half", "interleaved"))
        conjugate = " conjugate" if self.chance(0.3) else ""
        self.emit(f"fuseops.rotary_embedding {names} pairs({pairs}){conjugate} : {types}", y)

    def dropout(self, x: Value) -> None:
        if x.is_float:
            state = self.argument((2,), "i64", "{fuseops.random_state}")
            y = self.made(x, size=1.4 * x.size)
            self.emit(f"fuseops.dropout {x.name}, {state.name} p(0.25) : {x.type}, {state.type}", y)

    def pointwise(self, x: Value) -> None:
        """Any scalars: floats, integers and masks, several results."""
        operands = [self.tame(x)]
        is_wide = x.dtype == "f64"

        def fits(value: Value) -> bool:
            shape = broadcast(x.shape, value.shape)
            return shape == x.shape and (not value.is_float or (value.dtype == "f64") == is_wide)

        for _ in range(self.random.randint(0, 3)):
            found = self.pick(fits)
            if found is not None:
                operands.append(self.tame(found))
        if x.is_float and x.shape[-1:] != (DYNAMIC,) and self.chance(0.2):
            operands.append(self.argument(x.shape, self.random.choice(INTEGERS)))
        floats = [dtype for dtype in self.dtypes if (dtype == "f64") == is_wide]
        compute = "f64" if is_wide else "f32"
        writer = BodyWriter(self.random, compute, self.trains, self.dtypes)
        results = writer.write(operands, floats or [compute])
        values = [Value("", x.shape, r.dtype, r.trains, r.exact, r.size) for r in results]
        bound = ", ".join(f"%o{i} = {value.name}" for i, value in enumerate(operands))
        types = ", ".join(value.type for value in operands)
        outputs = ", ".join(value.type for value in values)
        inner = "\n    ".join(writer.lines)
        self.emit(
            f"fuseops.pointwise ({bound}) : ({types}) -> ({outputs}) {{\n    {inner}\n  }}",
            *values,
        )

    def quantize(self, x: Value) -> None:
        if self.trains or len(x.shape) != 2 or x.shape[1] == DYNAMIC or not x.is_float:
            return
        if x.dtype == "f64":
            return
        form = self.random.choice(("f8E4M3FN", "f8E5M2"))
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
        y = self.made(x, dtype="f32")
        self.emit(f"fuseops.dequantize {names[2]} : {kind} -> {y.type}", y)

    def apply(self, x: Value) -> None:
        """A private fusible of its own, used once or twice."""
        if not x.is_float:
            return
        x = self.tame(x)
        name = f"callee{len(self.callees)}"
        is_nested = self.chance(0.3)
        if is_nested:
            self.callees.append(
                f"fuseops.fusible @{name}_inner(%x: {x.type}) -> {x.type} "
                'attributes {sym_visibility = "private"}\n'
                f"forward {{\n  %0 = fuseops.silu %x : {x.type}\n"
                f"  fuseops.return %0 : {x.type}\n}}\n"
            )
        inner = f"fuseops.apply @{name}_inner(%1) : ({x.type}) -> {x.type}"
        last = inner if is_nested else f"fuseops.scale %1 by(0.5) : {x.type}"
        self.callees.append(
            f"fuseops.fusible @{name}(%x: {x.type}, %y: {x.type}) -> ({x.type}, {x.type}) "
            'attributes {sym_visibility = "private"}\nforward {\n'
            f"  %0 = fuseops.mul %x, %y : {x.type}, {x.type} -> {x.type}\n"
            f"  %1 = fuseops.gelu %0 approximate(tanh) : {x.type}\n  %2 = {last}\n"
            f"  fuseops.return %2, %x : {x.type}, {x.type}\n}}\n"
        )
        y = self.tame(self.pick(lambda value: value.type == x.type) or x)
        self.emit(
            f"fuseops.apply @{name}({x.name}, {y.name}) : "
            f"({x.type}, {x.type}) -> ({x.type}, {x.type})",
            self.made(x, y, size=x.size * y.size),
            self.made(x, y, exact=x.exact),
        )

    def steps(self) -> Sequence[Callable[[Value], None]]:
        layout = [self.slice, self.concat, self.permute, self.expand, self.reshape, self.reshape]
        rows = [self.norm, self.l2_norm, self.softmax, self.cross_entropy, self.reduce, self.reduce]
        scalars = [self.unary, self.unary, self.unary_grad, self.cast, self.binary, self.binary]
        scalars += [self.residual, self.residual, self.bias, self.glu, self.dropout]
        scalars += [self.pointwise, self.pointwise, self.pointwise, self.apply]
        scalars += [self.rotary_embedding]
        products = [self.linear, self.grouped_linear, self.matmul]
        return [*layout, *rows, *scalars, *products, self.quantize]

    def write(self) -> str:
        """The program's text."""
        r = self.random
        self.values.append(self.argument(self.shape))
        if self.chance(0.5):
            self.values.append(self.argument(self.shape))
        if self.chance(0.2):
            self.values.append(self.argument(self.shape, r.choice((*INTEGERS, "i1"))))
        steps, wanted = self.steps(), r.randint(10, 40)
        for _ in range(4 * wanted):
            if len(self.lines) >= wanted:
                break
            x = self.pick()
            if x is not None:
                r.choice(steps)(x)
        # Most of what nothing else reads, so that little of the program is dead.
        counts = Counter(re.findall(r"%[av]\d+", " ".join(self.lines)))
        # Only rows may be symbolic at the boundary.
        values = [v for v in self.values if not v.shape or v.shape[-1] != DYNAMIC]
        unread = [v for v in values if counts[v.name] <= v.name.startswith("%v")]
        results = [v for v in values if self.chance(0.6 if v in unread else 0.1)]
        results += [values[-1], r.choice([v for v in values if v.is_float and self.usable(v)])]
        if self.chance(0.2):
            results.append(r.choice(results))
        frozen = [i for i, v in enumerate(results) if self.trains and v.is_float and not v.trains]
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
