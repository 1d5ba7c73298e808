# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the functions of a module take and return, read from its text.

The compiler sees a number as a tensor of rank 0 and leaves `None` out: which of a function's
results are numbers or `None` is told by the function's type only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fuseops.errors import FuseOpsError

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|[()\[\]{}<>,]')
# In each form, the words that only a function's first line begins with.
_PRETTY = re.compile(r'^[ ]*func\.func (?P<private>private )?@("[^"]*"|[\w.$-]+)', re.MULTILINE)
_GENERIC = re.compile(r'^[ ]*"func\.func"\(\) <\{(?P<properties>.*)\}> \(\{', re.MULTILINE)
_SYMBOL = re.compile(r'sym_name = ("[^"]*")')


@dataclass(frozen=True)
class Signature:
    """A function's name and the types of its arguments and results, as text."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]


def _split_list(text: str, start: int) -> tuple[list[str], int]:
    """The parts of the bracketed list at `start`, and where it ends."""
    open_brackets: list[str] = []
    parts, begin = [], start + 1
    for token in _TOKEN.finditer(text, start):
        found = token[0]
        if found in _CLOSING:
            open_brackets.append(_CLOSING[found])
        elif open_brackets and found == open_brackets[-1]:
            open_brackets.pop()
        if not open_brackets or (found == "," and len(open_brackets) == 1):
            parts.append(text[begin : token.start()].strip())
            begin = token.end()
        if not open_brackets:
            return ([] if parts == [""] else parts), begin
    raise FuseOpsError("expected the type of a function, but got the end of the text")


def _result_types(text: str, start: int) -> list[str]:
    """The types after the arrow at `start`; none without an arrow."""
    arrow = re.compile(r"\s*->\s*").match(text, start)
    if not arrow:
        return []
    if text.startswith("(", arrow.end()):
        return _split_list(text, arrow.end())[0]
    # One type: a mnemonic and perhaps its parameters.
    mnemonic = re.compile(r"[!\w.]+").match(text, arrow.end())
    if not mnemonic:
        return []
    end = mnemonic.end()
    if text.startswith("<", end):
        end = _split_list(text, end)[1]
    return [text[arrow.end() : end]]


def _without_attributes(entry: str) -> str:
    """`%arg0: TYPE {attributes} loc(...)` as TYPE."""
    entry = re.sub(r"^%[\w.$-]+:\s*", "", entry)
    return re.split(r"\s+(?:\{|loc\()", entry, maxsplit=1)[0]


def _make(name: str, text: str, start: int) -> Signature:
    arguments, end = _split_list(text, start)
    results = _result_types(text, end)
    return Signature(
        name.strip('"'),
        tuple(_without_attributes(entry) for entry in arguments),
        tuple(_without_attributes(entry) for entry in results),
    )


def read_signatures(text: str) -> Iterator[Signature]:
    """The public functions of a module's text, pretty or generic, in order.

    Raises FuseOpsError where the text ends within a function's type.
    """
    for header in _PRETTY.finditer(text):
        if not header["private"]:
            yield _make(header[2], text, text.index("(", header.end()))
    for header in _GENERIC.finditer(text):
        properties = header["properties"]
        if 'sym_visibility = "private"' in properties:
            continue
        symbol = _SYMBOL.search(properties)
        key = "function_type = "
        if symbol is None or key not in properties:
            raise FuseOpsError("expected a `func.func` with a name and a type")
        yield _make(symbol[1], properties, properties.index(key) + len(key))
