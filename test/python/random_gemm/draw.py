# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws products with their neighbours: shapes, types, scales, layouts, epilogues and
schedules that the `gemm` template takes."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from gemm_case import KINDS, Case, gelu, gelu_gradient, spread

from random_gemm.bounded import Bounded, multiply, multiply_promoted

Values = dict[str, Bounded]
E4M3, E5M2 = "f8E4M3FN", "f8E5M2"
# Of both operands; what scales along what is contracted goes with its like.
SCALES = [
    ("per_tensor", "per_tensor"),
    ("per_row", "per_row"),
    ("per_tensor", "per_row"),
    ("block<1x128>", "block<128x128>"),
    ("block<1x128>", "block<1x128>"),
]
SHARED_BYTES = 227 * 1024
FIELDS = ("value", "error")
# The last digits of seeds whose products are of groups of rows.
GROUPS, GRADIENTS_OF_GROUPS = (4, 7), 9


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def silu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(0.5 * x))


# Name, what it computes, its largest slope.
ACTIVATIONS = [
    ("gelu {x} approximate(tanh)", gelu, 1.13),
    ("silu {x}", silu, 1.1),
    ("relu {x}", relu, 1.0),
]


class Drawing:
    """A case as it is being drawn: its text and, in the same order, its meaning."""

    def __init__(self, seed: int, most: tuple[int, int, int]) -> None:
        self.random = random.Random(seed)
        self.rows = self.random.randint(1, most[0])
        # Half the columns of the product where a GLU makes one of two.
        self.is_halved = self.random.random() < 0.15
        self.columns = 8 * self.random.randint(1, most[1] // (16 if self.is_halved else 8))
        self.n = self.columns * (2 if self.is_halved else 1)
        self.most_k = most[2]
        self.inputs: dict[str, str] = {}
        self.lines: list[str] = []
        self.steps: list[tuple[str, Callable[[Values], Bounded]]] = []
        self.outputs: dict[str, str] = {}
        # Of the result: its first extent and its element.
        self.m, self.element = "?", "bf16"
        self.is_promoted = self.is_narrow = self.sums_columns = self.has_blocks = False
        self.sizes: list[int] = []
        self.contracts_groups = False

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def result(self, element: str) -> str:
        return f"tensor<{self.m}x{self.columns}x{element}>"

    def product(self, element: str) -> str:
        return f"tensor<{self.m}x{self.n}x{element}>"

    def add(self, name: str, line: str, meaning: Callable[[Values], Bounded]) -> str:
        self.lines.append(f"%{name} = fuseops.{line}")
        self.steps.append((name, meaning))
        return name

    def draw_wide(self) -> str:
        """A product of 16-bit operands in one of three layouts."""
        # The product of two halves may be more than f16 has.
        kind = self.random.choice(["bf16", "bf16" if self.is_halved else "f16"])
        layout = self.random.choice(["linear", "input gradient", "weight gradient"])
        self.element = "f32" if self.chance(0.2) else kind
        k = 8 * self.random.randint(1, self.most_k // 8)
        if layout == "weight gradient":
            # The rows are contracted.
            self.m = str(8 * self.random.randint(1, self.rows // 8 + 1))
            self.rows = self.random.randint(1, self.most_k)
            self.inputs = {"a": f"tensor<?x{self.m}x{kind}>", "b": f"tensor<?x{self.n}x{kind}>"}
            line = "matmul %a, %b transpose_lhs : {a}, {b} -> "
        else:
            of_b = f"{self.n}x{k}" if layout == "linear" else f"{k}x{self.n}"
            self.inputs = {"a": f"tensor<?x{k}x{kind}>", "b": f"tensor<{of_b}x{kind}>"}
            line = "linear %a, %b : ({a}, {b}) -> "
            if layout != "linear":
                line = "matmul %a, %b : {a}, {b} -> "
        turns = {"linear": (0, 0), "input gradient": (0, 1), "weight gradient": (1, 1)}[layout]

        def meaning(values: Values) -> Bounded:
            a, b = (
                values[name].value.T if turn else values[name].value
                for name, turn in zip("ab", turns, strict=True)
            )
            return multiply(a, b, is_narrow=False).rounded(self.element)

        return self.add("p", line + self.product(self.element), meaning)

    def draw_narrow(self) -> str:
        """A product of FP8 operands and their scales."""
        self.is_narrow = True
        kinds = self.random.choice([(E4M3, E4M3), (E4M3, E4M3), (E5M2, E4M3), (E4M3, E5M2)])
        scales = self.random.choice(SCALES)
        short = "bf16" if self.is_halved else "f16"
        self.element = self.random.choice(["bf16", "bf16", "bf16", short, "f32"])
        k = 16 * self.random.randint(1, self.most_k // 16)
        is_fast = self.chance(0.6)
        is_block = scales[0].startswith("block")
        self.is_promoted = is_block or not is_fast
        for name, rows, kind, scale in zip("ab", ("?", str(self.n)), kinds, scales, strict=True):
            blocks = -(-k // 128)
            shape = {
                "per_tensor": "",
                "per_row": f"{rows}x1x",
                "block<1x128>": f"{blocks}x{rows}x",
                "block<128x128>": f"{-(-self.n // 128)}x{-(-blocks // 4) * 4}x",
            }[scale]
            self.inputs[name] = f"tensor<{rows}x{k}x{kind}>"
            self.inputs[f"{name}s"] = f"tensor<{shape}f32>"
        has_bias = self.chance(0.2)
        if has_bias:
            self.inputs["ab"] = f"tensor<{self.n}x{self.element}>"
        line = f"scaled_matmul %a[%as] {scales[0]}, %b[%bs] {scales[1]}"
        line += " bias(%ab)" if has_bias else ""
        line += " {fast_accumulate}" if is_fast else ""
        types = ", ".join(f"{{{name}}}" for name in self.inputs)
        line += f" : ({types}) -> {self.product(self.element)}"

        def scale_of(values: Values, name: str, kind: str) -> np.ndarray:
            found, rows = values[f"{name}s"].value, len(values[name].value)
            if kind == "block<1x128>":
                return spread(found.T, rows, k, (1, 128))
            return spread(found, rows, k, (128, 128)) if kind.startswith("block") else found

        def meaning(values: Values) -> Bounded:
            a, b = (
                values[name].value * scale_of(values, name, kind)
                for name, kind in zip("ab", scales, strict=True)
            )
            found = multiply_promoted(a, b) if self.is_promoted else multiply(a, b, is_narrow=True)
            # Scales in f32.
            found.error += 2.0**-22 * np.abs(found.value)
            return (found + values["ab"] if has_bias else found).rounded(self.element)

        return self.add("p", line, meaning)

    def draw_sizes(self) -> list[int]:
        """Of groups, some of them empty; together they may have more rows than there are."""
        count = self.random.randint(1, 9)
        most = max(1, 2 * self.rows // count)
        self.sizes = [
            0 if self.chance(0.25) else self.random.randint(1, most) for _ in range(count)
        ]
        self.sizes[-1] += not any(self.sizes)
        ends = np.minimum(np.cumsum(self.sizes), self.rows).tolist()
        return [0, *ends]

    def draw_groups(self) -> str:
        """A product of groups of rows, each with a matrix of its own."""
        kinds = self.random.choice([("bf16",) * 2, ("f16",) * 2, (E4M3, E4M3), (E5M2, E4M3)])
        is_narrow = self.is_narrow = kinds[1] == E4M3
        self.element = "bf16" if self.is_halved or is_narrow else kinds[0]
        if self.chance(0.2):
            self.element = "f32"
        turned = is_narrow or self.chance(0.6)
        # Matrices that lie as they are have whole stages.
        unit = 16 if is_narrow else 8 if turned else 64
        k = unit * self.random.randint(1, self.most_k // unit)
        is_fast = is_narrow and self.chance(0.6)
        self.is_promoted = is_narrow and not is_fast
        ends = self.draw_sizes()
        count = len(self.sizes)
        shape = f"{self.n}x{k}" if turned else f"{k}x{self.n}"
        self.inputs = {
            "a": f"tensor<?x{k}x{kinds[0]}>",
            "b": f"tensor<{count}x{shape}x{kinds[1]}>",
            "n": f"tensor<{count}xi64>",
        }
        line = "grouped_matmul %a, %b sizes(%n)" + (" transpose_rhs" if turned else "")
        line += " {fast_accumulate}" if is_fast else ""
        line += f" : {{a}}, {{b}}, {{n}} -> {self.product(self.element)}"

        def meaning(values: Values) -> Bounded:
            a, b = values["a"].value, values["b"].value
            result = Bounded.exact(np.zeros((len(a), self.n)))
            for (i, j), each in zip(pairwise(ends), b, strict=True):
                matrix = each if turned else each.T
                if self.is_promoted:
                    part = multiply_promoted(a[i:j], matrix)
                else:
                    part = multiply(a[i:j], matrix, is_narrow=is_narrow)
                result.value[i:j], result.error[i:j] = part.value, part.error
            return result.rounded(self.element)

        return self.add("p", line, meaning)

    def draw_group_gradients(self) -> None:
        """A product of the rows of each group, maybe added to what there was."""
        self.contracts_groups = True
        kind = self.random.choice(["bf16", "f16"])
        self.element = "f32" if self.chance(0.3) else kind
        m = 8 * self.random.randint(1, self.rows // 8 + 1)
        self.rows = self.random.randint(1, self.most_k)
        ends = self.draw_sizes()
        count = len(self.sizes)
        result = f"tensor<{count}x{m}x{self.n}x{self.element}>"
        self.inputs = {
            "a": f"tensor<?x{m}x{kind}>",
            "b": f"tensor<?x{self.n}x{kind}>",
            "n": f"tensor<{count}xi64>",
        }

        def meaning(values: Values) -> Bounded:
            parts = [
                multiply(values["a"].value[i:j].T, values["b"].value[i:j].T, is_narrow=False)
                for i, j in pairwise(ends)
            ]
            found = Bounded(*(np.stack([getattr(part, of) for part in parts]) for of in FIELDS))
            return found.rounded(self.element)

        line = f"grouped_matmul %a, %b sizes(%n) transpose_lhs : {{a}}, {{b}}, {{n}} -> {result}"
        product = self.add("p", line, meaning)
        if self.chance(0.5):
            self.inputs["c"] = result
            product = self.add(
                "q",
                "add %p, %c : {c}, {c} -> {c}",
                lambda values: (values["p"] + values["c"]).rounded(self.element),
            )
        self.outputs[product] = result

    def draw_epilogue(self, product: str) -> str:
        """What is computed of the product; the name of the last value."""
        kind, full = self.element, self.result(self.element)
        value = product
        if self.is_halved:
            value = self.add(
                "h",
                f"swiglu %{value} activation(first) : {self.product(kind)} -> {full}",
                lambda values, x=value: (
                    values[x].columns(0, self.columns).apply(silu, 1.1)
                    * values[x].columns(self.columns, self.n)
                ).rounded(kind),
            )
        if self.chance(0.35):
            self.inputs["c"] = f"tensor<{self.columns}x{kind}>"
            value = self.add(
                "z",
                f"bias %{value}, %c : {full}, {{c}}",
                lambda values, x=value: (values[x] + values["c"]).rounded(kind),
            )
        if self.chance(0.35):
            text, function, slope = self.random.choice(ACTIVATIONS)
            value = self.add(
                "g",
                f"{text.format(x=f'%{value}')} : {full}",
                lambda values, x=value: values[x].apply(function, slope).rounded(kind),
            )
        elif self.chance(0.2):
            self.inputs["s"] = full
            value = self.add(
                "g",
                f"gelu_grad %{value}, %s approximate(tanh) : {full}",
                lambda values, x=value: (
                    values[x] * values["s"].apply(gelu_gradient, 1.13)
                ).rounded(kind),
            )
        if self.chance(0.35):
            self.inputs["r"] = full
            value = self.add(
                "y",
                f"add %{value}, %r : {full}, {full} -> {full}",
                lambda values, x=value: (values[x] + values["r"]).rounded(kind),
            )
        return value

    def draw_blocks(self, value: str) -> None:
        """FP8 with a scale for each 128 columns of a row, which the group computes."""
        self.has_blocks = True
        kind, count = self.result("f32"), -(-self.columns // 128)
        scales = f"tensor<{self.m}x{count}xf32>"
        source = self.result(self.element)
        self.outputs["q"] = self.result(E4M3)
        self.outputs["qs"] = f"tensor<{count}x{self.m}xf32>"
        self.add(
            "abs",
            f"pointwise (%u = %{value}) : ({source}) -> {kind} {{\n"
            "  %x = math.absf %u : f32\n  fuseops.yield %x : f32\n}",
            lambda values: values[value].apply(np.abs, 1),
        )
        self.add(
            "max",
            f"reduce_blocks %abs block(1, 128) : {kind} -> {scales}",
            lambda values: values["abs"].max_of_blocks(128),
        )
        self.add(
            "scale",
            f"pointwise (%u = %max) : ({scales}) -> {scales} {{\n"
            "  %most = arith.constant 448.0 : f32\n  %least = arith.constant 1.0e-3 : f32\n"
            "  %above = arith.maximumf %u, %least : f32\n  %x = arith.divf %most, %above : f32\n"
            "  fuseops.yield %x : f32\n}",
            lambda values: values["max"].at_least(1e-3).inverse(448),
        )
        self.add(
            "wide",
            f"expand_blocks %scale block(1, 128) : {scales} -> {kind}",
            lambda values: values["scale"].repeated(128).columns(0, self.columns),
        )
        self.add(
            "q",
            f"pointwise (%u = %{value}, %v = %wide) : ({source}, {kind}) -> {{q}} {{\n"
            "  %x = arith.mulf %u, %v : f32\n  fuseops.yield %x : f32\n}",
            lambda values: (values[value] * values["wide"]).rounded("e4m3"),
        )
        self.add(
            "qs",
            f"permute %scale order[1, 0] : {scales} -> {{qs}}",
            lambda values: values["scale"].transposed(),
        )

    def draw_narrow_output(self, value: str, *, is_transposed_too: bool) -> None:
        narrow = self.random.choice([E4M3, E5M2])
        self.inputs["u"] = "tensor<f32>"
        self.outputs["q"] = self.result(narrow)
        self.add(
            "q",
            f"pointwise (%v = %{value}, %w = %u) : ({self.result(self.element)}, {{u}}) -> {{q}} {{"
            "\n  %x = arith.mulf %v, %w : f32\n  fuseops.yield %x : f32\n}",
            lambda values: (values[value] * values["u"]).rounded(KINDS[narrow]),
        )
        if is_transposed_too:
            self.outputs["t"] = f"tensor<{self.columns}x{self.m}x{narrow}>"
            self.add(
                "t",
                "permute %q order[1, 0] : {q} -> {t}",
                lambda values: values["q"].transposed(),
            )

    def draw_row_sums(self, value: str) -> None:
        """The largest element of each row, or the sum of its squares and what is computed
        of that."""
        kind, each = self.result(self.element), f"tensor<{self.m}x1xf32>"
        self.outputs["l"] = each
        if self.chance(0.3):
            self.add(
                "l",
                f"reduce_columns max %{value} : {kind} -> {{l}}",
                lambda values: values[value].max_of_blocks(self.columns),
            )
            return
        full = self.result("f32")
        self.add(
            "squares",
            f"pointwise (%each = %{value}) : ({kind}) -> {full} {{\n"
            "  %x = arith.mulf %each, %each : f32\n  fuseops.yield %x : f32\n}",
            lambda values: values[value] * values[value],
        )
        self.add(
            "total",
            f"reduce_columns sum %squares : {full} -> {each}",
            lambda values: values["squares"].sum_of_columns(),
        )
        self.add(
            "l",
            f"pointwise (%each = %total) : ({each}) -> {{l}} {{\n"
            "  %one = arith.constant 1.0 : f32\n  %above = arith.addf %each, %one : f32\n"
            "  %x = arith.divf %one, %above : f32\n  fuseops.yield %x : f32\n}",
            lambda values: (values["total"] + Bounded.exact(np.ones(1))).inverse(1),
        )

    def draw_outputs(self, product: str, value: str) -> None:
        kind, full = self.element, self.result(self.element)
        forms = ["as it is", "as it is", "f32", "fp8", "fp8 and transposed", "blocks"]
        form = self.random.choice(forms)
        if form == "f32" and kind != "f32":
            self.outputs["f"] = self.result("f32")
            self.add("f", f"cast %{value} : {full} -> {{f}}", lambda values: values[value])
        elif form.startswith("fp8"):
            self.draw_narrow_output(value, is_transposed_too=form != "fp8")
        elif form == "blocks":
            self.draw_blocks(value)
        else:
            self.outputs[value] = full
        if product not in self.outputs and self.chance(0.25):
            self.outputs[product] = self.product(kind)
        # With scales they may be more than f16 has.
        if self.chance(0.25) and not (self.is_narrow and kind == "f16") and not self.sizes:
            self.sums_columns = True
            self.outputs["d"] = f"tensor<{self.columns}x{kind}>"
            self.add(
                "d",
                f"reduce_rows sum %{value} : {full} -> {{d}}",
                lambda values: values[value].sum_of_rows().rounded(kind),
            )
        if self.chance(0.25):
            self.outputs["m"] = "tensor<f32>"
            self.add("m", f"amax %{value} : {full} -> {{m}}", lambda values: values[value].amax())
        if self.chance(0.25) and not (self.is_narrow and kind == "f16"):
            self.draw_row_sums(value)

    def draw_schedule(self) -> str:
        """How many blocks there are, and half of the time how the work is cut."""
        # Two blocks may have a tile each of one block of scales.
        workers = self.random.choice([2, 4, 10, 132] if self.has_blocks else [1, 2, 5, 132])
        if self.chance(0.5):
            return f"workers = {workers}"
        # A tile has columns of both halves, and whole blocks or half of one.
        parts = 2 if self.is_halved else 1
        widths = [part for part in (64, 128, 192, 256) if not self.has_blocks or part != 192]
        stored = list(self.outputs).count("p") * (self.n // self.columns - 1)
        stored += sum(kind.count("x") >= 2 for kind in self.outputs.values())
        while True:
            is_ping_pong = 1 if self.contracts_groups else self.random.randint(0, 1)
            warpgroups = 2 if is_ping_pong else self.random.randint(2, 3)
            share = 1 if is_ping_pong else warpgroups
            rows = 64 * share * self.random.randint(1, 4 // share)
            columns = parts * self.random.choice(widths)
            buffers = stored + self.random.randint(0 if stored else 1, 2)
            raster = self.random.randint(1, 16)
            sums = rows // share * columns // 128 + self.is_promoted * columns // 2
            stage = 128 * (rows + columns)
            transposed = 8192 * ("t" in self.outputs)
            fixed = warpgroups * (8192 * buffers + transposed) + 4096
            most = min((SHARED_BYTES - fixed) // stage, 4 if self.is_promoted else 8)
            widest, most_sums = (256, 192) if warpgroups == 2 else (192, 128)
            if columns > widest or sums > most_sums or most < 2:
                continue
            if self.sums_columns and rows != 128:
                continue
            stages = self.random.randint(2, most)
            return (
                f"ping_pong = {is_ping_pong}, warpgroups = {warpgroups}, tile_rows = {rows}, "
                f"tile_columns = {columns}, stages = {stages}, store_buffers = {buffers}, "
                f"raster = {raster}, workers = {workers}"
            )


def draw_case(seed: int, most: tuple[int, int, int] = (600, 700, 1500)) -> Case:
    """The case of a seed, of extents m, n and k up to `most`. `Case.expected` gives
    bounded values."""
    drawing = Drawing(seed, most)
    if seed % 10 == GRADIENTS_OF_GROUPS:
        drawing.is_halved, drawing.n = False, drawing.columns
        drawing.draw_group_gradients()
    else:
        if seed % 10 in GROUPS:
            product = drawing.draw_groups()
        else:
            product = drawing.draw_narrow() if drawing.chance(0.6) else drawing.draw_wide()
        value = drawing.draw_epilogue(product)
        drawing.draw_outputs(product, value)
    schedule = drawing.draw_schedule()

    def expected(*arrays: np.ndarray) -> list[Bounded]:
        values = {
            name: Bounded.exact(array) for name, array in zip(drawing.inputs, arrays, strict=True)
        }
        for name, meaning in drawing.steps:
            values[name] = meaning(values)
        return [values[name] for name in drawing.outputs]

    return Case(
        drawing.inputs,
        "\n".join(drawing.lines),
        drawing.outputs,
        expected,
        drawing.rows,
        schedule,
        tuple(drawing.sizes),
    )
