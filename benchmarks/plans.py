# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes programs that are one group of a plan."""

from __future__ import annotations

import re


def write_group(
    template: str, inputs: dict[str, str], body: str, outputs: dict[str, str], schedule: str = ""
) -> str:
    """A program `@main` whose forward region is one group of `template` with the keys
    `schedule`, as `stages = 2, workers = 1`. Its inputs and outputs are the group's, by
    name and type; `{name}` in the body is that type."""
    types = {**inputs, **outputs}
    body = re.sub(r"\{(\w+)\}", lambda match: types.get(match[1], match[0]), body)
    keys = re.sub(r"(= \d+)", r"\1 : i64", schedule)
    written = f" schedule {{{keys}}}" if keys else ""
    results = ", ".join(outputs.values())
    arguments = ", ".join(f"%arg_{name}: {kind}" for name, kind in inputs.items())
    bound = ", ".join(f"%{name} = %arg_{name}" for name in inputs)
    count = len(outputs)
    group = f"fuseops.group @k {template}{written} ({bound})"
    group += f" : ({', '.join(inputs.values())}) -> ({results})"
    returned = ", ".join(f"%r#{i}" for i in range(count)) if count > 1 else "%r"
    frozen = f"frozen_results = array<i64: {', '.join(map(str, range(count)))}>"
    return f"""
fuseops.fusible @main({arguments}) -> ({results}) attributes {{{frozen}}}
forward {{
  %r{f":{count}" if count > 1 else ""} = {group} {{
    {body}
    fuseops.yield {", ".join(f"%{name}" for name in outputs)} : {results}
  }}
  fuseops.return {returned} : {results}
}}
"""


def write_swiglu_gradient(columns: int | str, both: int | str) -> str:
    """`%dg` and `%du`, the gradients of the halves of `%z`, which has twice `columns`, for
    that of the output, `%p`."""
    one, all_of = f"tensor<?x{columns}xbf16>", f"tensor<?x{both}xbf16>"
    return f"""
%gate = fuseops.slice %z dim(1) offset(0) : {all_of} -> {one}
%up = fuseops.slice %z dim(1) offset({columns}) : {all_of} -> {one}
%dg, %du = fuseops.pointwise (%dy = %p, %g = %gate, %u = %up)
    : ({one}, {one}, {one}) -> ({one}, {one}) {{
  %one = arith.constant 1.0 : f32
  %minus = arith.negf %g : f32
  %e = math.exp %minus : f32
  %below = arith.addf %e, %one : f32
  %sigmoid = arith.divf %one, %below : f32
  %silu = arith.mulf %g, %sigmoid : f32
  %second = arith.mulf %dy, %silu : f32
  %rest = arith.subf %g, %silu : f32
  %sum = arith.addf %one, %rest : f32
  %slope = arith.mulf %sigmoid, %sum : f32
  %through = arith.mulf %dy, %u : f32
  %first = arith.mulf %through, %slope : f32
  fuseops.yield %first, %second : f32, f32
}}
"""


def write_quantize(source: str, columns: int | str, blocks: int | str, factors: str) -> str:
    """`%q`, of bf16 in blocks of 128 along a row, as the next product reads it, and its
    transposed factors, of that name."""
    value, full = f"tensor<?x{columns}xbf16>", f"tensor<?x{columns}xf32>"
    scales = f"tensor<?x{blocks}xf32>"
    return f"""
%abs = fuseops.pointwise (%each = %{source}) : ({value}) -> {full} {{
  %result = math.absf %each : f32
  fuseops.yield %result : f32
}}
%max = fuseops.reduce_blocks %abs block(1, 128) : {full} -> {scales}
%factor = fuseops.pointwise (%each = %max) : ({scales}) -> {scales} {{
  %limit = arith.constant 448.0 : f32
  %result = arith.divf %limit, %each : f32
  fuseops.yield %result : f32
}}
%wide = fuseops.expand_blocks %factor block(1, 128) : {scales} -> {full}
%q = fuseops.pointwise (%each = %{source}, %by = %wide) : ({value}, {full}) -> {{q}} {{
  %result = arith.mulf %each, %by : f32
  fuseops.yield %result : f32
}}
%{factors} = fuseops.permute %factor order[1, 0] : {scales} -> {{{factors}}}
"""
