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
