# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text of the torch dialect: types, constants, literals, locations and one function."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from fuseops.errors import FuseOpsError

# PyTorch's number of each dtype (c10/core/ScalarType.h), and the element type.
_DTYPES = {
    torch.uint8: (0, "ui8"),
    torch.int8: (1, "si8"),
    torch.int16: (2, "si16"),
    torch.int32: (3, "si32"),
    torch.int64: (4, "si64"),
    torch.float16: (5, "f16"),
    torch.float32: (6, "f32"),
    torch.float64: (7, "f64"),
    torch.complex32: (8, "complex<f16>"),
    torch.complex64: (9, "complex<f32>"),
    torch.complex128: (10, "complex<f64>"),
    torch.bool: (11, "i1"),
    torch.bfloat16: (15, "bf16"),
    torch.float8_e5m2: (23, "f8E5M2"),
    torch.float8_e4m3fn: (24, "f8E4M3FN"),
    torch.float8_e5m2fnuz: (25, "f8E5M2FNUZ"),
    torch.float8_e4m3fnuz: (26, "f8E4M3FNUZ"),
    torch.uint16: (27, "ui16"),
    torch.uint32: (28, "ui32"),
    torch.uint64: (29, "ui64"),
    torch.float8_e8m0fnu: (44, "f8E8M0FNU"),
}
_MEMORY_FORMATS = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}
# c10/core/Layout.h.
_LAYOUTS = {torch.strided: 0, torch.sparse_coo: 1, torch.sparse_csr: 2, torch._mkldnn: 3}
_HERE = Path(__file__).resolve().parent
_FRAME = re.compile(r'File "(?P<file>.+)", line (?P<line>\d+)')

NONE = "!torch.none"
INT = "!torch.int"
FLOAT = "!torch.float"
BOOL = "!torch.bool"
STR = "!torch.str"


@dataclass(frozen=True)
class Value:
    """An SSA value and its type."""

    name: str
    type: str


def dtype_number(dtype: torch.dtype) -> int:
    """The integer that stands for a dtype among an operation's operands."""
    return _dtype(dtype)[0]


def element_type(dtype: torch.dtype) -> str:
    """The element type of a `!torch.vtensor`."""
    return _dtype(dtype)[1]


def _dtype(dtype: torch.dtype) -> tuple[int, str]:
    if dtype not in _DTYPES:
        raise FuseOpsError(f"cannot import dtype {dtype}: the torch dialect has none")
    return _DTYPES[dtype]


def tensor_type(tensor: torch.Tensor, is_mutable: bool = False) -> str:
    """The type of a tensor; a symbolic size is `?`."""
    sizes = ",".join(str(size) if type(size) is int else "?" for size in tensor.shape)
    kind = "tensor" if is_mutable else "vtensor"
    return f"!torch.{kind}<[{sizes}],{element_type(tensor.dtype)}>"


def quote(text: str) -> str:
    """A string attribute."""
    characters = [
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in text.encode()
    ]
    return '"' + "".join(characters) + '"'


def spell_float(number: float) -> str:
    """A float so that it's read back exactly."""
    if not math.isfinite(number):
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    mantissa, mark, exponent = repr(float(number)).partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + mark + exponent


class ModuleWriter:
    """What the functions of a module share: locations and the bytes of literals."""

    def __init__(self) -> None:
        self._functions: list[str] = []
        self._locations: dict[str, str] = {}
        self._resources: dict[str, str] = {}

    def location(self, stack_trace: str | None) -> str:
        """The calls of a stack trace, outermost first, as ` loc(#locN)`."""
        nested = ""
        for frame in _FRAME.finditer(stack_trace or ""):
            if Path(frame["file"]).parent == _HERE:
                continue
            place = self._alias(f"{quote(frame['file'])}:{frame['line']}:0")
            nested = self._alias(f"callsite({place} at {nested})") if nested else place
        return f" loc({nested or 'unknown'})"

    def _alias(self, location: str) -> str:
        return self._locations.setdefault(location, f"#loc{len(self._locations)}")

    def resource(self, tensor: torch.Tensor) -> str:
        """The name of a resource that holds the tensor's bytes."""
        data = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        if data.is_complex():
            data = torch.view_as_real(data).contiguous()
        alignment = struct.pack("<I", data.element_size())
        blob = f'"0x{(alignment + data.reshape(-1).view(torch.uint8).numpy().tobytes()).hex()}"'
        base = "_".join(["torch_tensor", *map(str, tensor.shape), str(tensor.dtype)])
        name, count = base, 0
        while self._resources.setdefault(name, blob) != blob:
            count += 1
            name = f"{base}_{count}"
        return name

    def add_function(self, text: str) -> None:
        self._functions.append(text)

    def text(self) -> str:
        """The module."""
        lines = [f"{alias} = loc({place})" for place, alias in self._locations.items()]
        lines += ["module {", *self._functions, "}"]
        if self._resources:
            blobs = ",\n".join(f"      {name}: {blob}" for name, blob in self._resources.items())
            lines += ["", "{-#", "  dialect_resources: {", "    builtin: {", blobs]
            lines += ["    }", "  }", "#-}"]
        return "\n".join(lines) + "\n"


class FunctionWriter:
    """The operations of one function, one after another."""

    def __init__(self, module: ModuleWriter, name: str) -> None:
        self._module = module
        self._name = name
        self._arguments: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._shared: dict[tuple[str, ...], Value] = {}
        self._location = module.location(None)

    def set_location(self, stack_trace: str | None) -> None:
        """Where the operations that follow stem from."""
        self._location = self._module.location(stack_trace)

    def argument(self, value_type: str, is_frozen: bool = False) -> Value:
        """A new argument; nobody asks for the gradient of a frozen one."""
        value = Value(f"%arg{len(self._arguments)}", value_type)
        attributes = " {fuseops.frozen}" if is_frozen else ""
        self._arguments.append(f"{value.name}: {value.type}{attributes}{self._location}")
        return value

    def line(self, text: str) -> None:
        """An operation without results, as it's written."""
        self._lines.append(f"    {text}{self._location}")

    def define(self, text: str, value_type: str) -> Value:
        value = Value(f"%{self._count}", value_type)
        self._count += 1
        self.line(f"{value.name} = {text}")
        return value

    def _share(self, text: str, value_type: str) -> Value:
        """An operation without effects; the same one twice is made once."""
        key = (text, value_type)
        if key not in self._shared:
            self._shared[key] = self.define(text, value_type)
        return self._shared[key]

    def call(
        self,
        name: str,
        operands: Sequence[Value],
        types: Sequence[str],
        custom: bool = False,
        attributes: Mapping[str, str] | None = None,
    ) -> list[Value]:
        """The operation `torch.name`, or the operator of that name where the
        dialect has none, and its results."""
        given = ", ".join(f"{key} = {value}" for key, value in (attributes or {}).items())
        given = f" {{{given}}}" if given else ""
        names = ", ".join(operand.name for operand in operands)
        operand_types = ", ".join(operand.type for operand in operands)
        result_types = ", ".join(types)
        if custom:
            results = result_types if len(types) == 1 else f"({result_types})"
            text = f'torch.operator "torch.{name}"({names}){given} : ({operand_types}) -> {results}'
        else:
            arrow = f" -> {result_types}" if types and operands else result_types
            text = f"torch.{name} {names}".rstrip() + given
            text += f" : {operand_types}{arrow}".rstrip(" :")
        if len(types) < 2:
            if types:
                return [self.define(text, types[0])]
            self.line(text)
            return []
        base = f"%{self._count}"
        self._count += 1
        self.line(f"{base}:{len(types)} = {text}")
        return [Value(f"{base}#{index}", kind) for index, kind in enumerate(types)]

    def constant(self, value: object) -> Value:
        """A constant operand, its type that of the Python value."""
        if value is None:
            return self._share("torch.constant.none", NONE)
        if isinstance(value, bool):
            return self._share(f"torch.constant.bool {str(value).lower()}", BOOL)
        if isinstance(value, int):
            return self._share(f"torch.constant.int {value}", INT)
        if isinstance(value, float):
            return self._share(f"torch.constant.float {spell_float(value)}", FLOAT)
        if isinstance(value, str):
            return self._share(f"torch.constant.str {quote(value)}", STR)
        if isinstance(value, torch.device):
            return self._share(f"torch.constant.device {quote(str(value))}", "!torch.Device")
        if isinstance(value, torch.dtype):
            return self.constant(dtype_number(value))
        if isinstance(value, torch.memory_format):
            return self.constant(_MEMORY_FORMATS[value])
        if isinstance(value, torch.layout) and value in _LAYOUTS:
            return self.constant(_LAYOUTS[value])
        raise FuseOpsError(f"cannot import a constant of type {type(value).__name__}")

    def list_of(self, elements: Sequence[Value], element: str) -> Value:
        """A list; `element` is the type inside of it."""
        names = "".join(f" {value.name}," for value in elements).rstrip(",")
        types = ", ".join(value.type for value in elements)
        result = f"!torch.list<{element}>"
        return self._share(f"torch.prim.ListConstruct{names} : ({types}) -> {result}", result)

    def literal(self, tensor: torch.Tensor) -> Value:
        """A tensor constant. The dialect has no literals of bool: they're made
        of ui8."""
        if tensor.dtype == torch.bool:
            operands = [self.literal(tensor.to(torch.uint8)), self.constant(torch.bool)]
            types = [tensor_type(tensor)]
            return self.call("prims.convert_element_type", operands, types)[0]
        shaped = "x".join([*map(str, tensor.shape), element_type(tensor.dtype)])
        if tensor.numel() == 1 and not tensor.is_complex():
            number = tensor.item()
            spelled = spell_float(number) if isinstance(number, float) else str(number)
            if isinstance(number, float) and not math.isfinite(number):
                data = tensor.detach().cpu().reshape(1).view(torch.uint8).numpy().tobytes()
                spelled = f"0x{data[::-1].hex().upper()}"
            attribute = f"dense<{spelled}>"
        else:
            attribute = f"dense_resource<{self._module.resource(tensor)}>"
        result = tensor_type(tensor)
        return self._share(
            f"torch.vtensor.literal({attribute} : tensor<{shaped}>) : {result}", result
        )

    def finish(
        self,
        results: Sequence[Value],
        result_lists: Mapping[str, Sequence[int]] | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        """Returns the results and adds the function to the module. `result_lists`
        are attributes that list results by index, `attributes` others as they are
        spelled."""
        types = ", ".join(value.type for value in results)
        names = "".join(f" {value.name}," for value in results).rstrip(",")
        self.line(f"return{names} : {types}" if results else "return")
        signature = f"({', '.join(self._arguments)}) -> ({types})"
        spelled = {
            key: f"array<i64: {', '.join(map(str, indices))}>"
            for key, indices in (result_lists or {}).items()
            if indices
        }
        spelled.update(attributes or {})
        listed = ", ".join(f"fuseops.{key} = {value}" for key, value in spelled.items())
        given = f" attributes {{{listed}}}" if listed else ""
        head = f"  func.func @{self._name}{signature}{given} {{"
        self._module.add_function("\n".join([head, *self._lines, f"  }}{self._location}"]))
