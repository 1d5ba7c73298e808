# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The PTX simulator: copies, products and clusters, whenever they are made, and which
faults of a kernel's protocol it finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import ptx_simulator as ptx
import pytest
from ptx_arithmetic import read_floats, round_floats
from ptx_snippets import TIMES, Fault, check, run, write_kernel


def swizzled(box: np.ndarray, span: int) -> np.ndarray:
    """Rows of bytes as the copy engine lays them out from a multiple of 1024 on: drawn
    after the pictures of the PTX ISA, not after its formula."""
    units = box.reshape(box.shape[0], -1, 16)
    found = units.copy()
    for row in range(box.shape[0]):
        turn = {0: 0, 32: row // 4 % 2, 64: row // 2 % 4, 128: row % 8}[span]
        for unit in range(units.shape[1]):
            found[row, unit ^ turn] = units[row, unit]
    return found.reshape(box.shape)


BEGIN = """
mov.u32 %s, smem;
add.u32 %bar, %s, 65536;
setp.ne.u32 %p, %t, 0;
@%p bra READY;
mbarrier.init.shared::cta.b64 [%bar], 1;
fence.mbarrier_init.release.cluster;
READY:
bar.sync 0;
@%p bra WAIT;
"""
WAIT = """
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %q, [%bar], 0;
@!%q bra WAIT;
"""
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {};\n"
LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
BOX = LOAD + " [{}], [{}, {{{}, {}}}], [%bar];\n"
COPY = (
    BEGIN
    + EXPECT.format("BYTES")
    + BOX.format("%s", "%m0", "COLUMN", "ROW")
    + WAIT
    + """
mov.b32 %i, %t;
LOOP:
mad.lo.u32 %a, %i, 4, %s;
ld.shared.b32 %v, [%a];
mad.wide.u32 %at, %i, 4, %b1;
st.global.b32 [%at], %v;
add.u32 %i, %i, 32;
setp.lt.u32 %p, %i, WORDS;
@%p bra LOOP;
"""
)
COPY_FAULTS = {
    "none": None,
    "no wait": Fault("@!%q bra WAIT;", "", "read of bytes of a copy under way"),
    "fewer bytes": Fault("[%bar], 1024;", "[%bar], 512;", "more than a barrier expects"),
    "more bytes": Fault("[%bar], 1024;", "[%bar], 2048;", "deadlock"),
    "no fence": Fault("fence.mbarrier_init.release.cluster;", "", "initialised with no fence"),
    "off": Fault("[%s], [%m0", "[%bar+64], [%m0", "no multiple of 128"),
    "over the barrier": Fault("[%s], [%m0", "[%bar], [%m0", "copy to a barrier"),
    "no map": Fault("[%m0, {", "[%b0, {", "no tensor map"),
    "bytes written before": Fault(
        "@%p bra WAIT;", "st.shared.b32 [%s], %t; @%p bra WAIT;", "fence"
    ),
}


@pytest.mark.parametrize("name", COPY_FAULTS)
def test_boxes_come(name: str):
    matrix = np.random.default_rng(0).integers(0, 256, (40, 128), np.uint8)

    def is_right(text: str, late: bool, seed: int) -> bool:
        out = np.zeros((16, 64), np.uint8)
        tensor_map = ptx.TensorMap(0, "u8", 112, 40, 128, 64, 16, 64)
        run(text, [matrix, out], [tensor_map], late=late, seed=seed)
        expected = np.zeros((16, 64), np.uint8)
        expected[:10, :48] = matrix[30:, 64:112]
        return np.array_equal(out, swizzled(expected, 64))

    text = COPY.replace("BYTES", "1024").replace("WORDS", "256").replace("COLUMN", "64")
    check(
        write_kernel(text.replace("ROW", "30"), 32, buffers=2, maps=1), is_right, COPY_FAULTS[name]
    )


@pytest.mark.parametrize("span", [0, 32, 64, 128])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (-8, -3), (200, 7), (16, 33)])
def test_what_boxes_cover(span: int, x: int, y: int):
    """Beyond the matrix is zero."""
    matrix = np.arange(36 * 104, dtype=np.uint16).reshape(36, 104)
    columns = (span or 96) // 2
    out = np.zeros((24, columns), np.uint16)
    text = COPY.replace("BYTES", str(out.nbytes)).replace("WORDS", str(out.nbytes // 4))
    text = text.replace("COLUMN", str(x)).replace("ROW", str(y))
    tensor_map = ptx.TensorMap(0, "bf16", 100, 36, 208, columns, 24, span)
    run(write_kernel(text, 32, buffers=2, maps=1), [matrix, out], [tensor_map])
    wide = np.zeros((100, 500), np.uint16)
    wide[40:76, 100:200] = matrix[:, :100]
    expected = wide[40 + y : 64 + y, 100 + x : 100 + x + columns]
    bytes_of = np.ascontiguousarray(expected).view(np.uint8)
    assert np.array_equal(out.view(np.uint8), swizzled(bytes_of, span))


def test_not_a_tensor_map():
    for change in ({"pitch": 24}, {"box_columns": 6}, {"box_rows": 257}, {"swizzle": 32}):
        keys = {"columns": 16, "rows": 4, "pitch": 64, "box_columns": 16, "box_rows": 4}
        with pytest.raises(ptx.SimulationError):
            ptx.TensorMap(0, "f32", **(keys | change))


PUT = """
mov.u32 %s, smem;
mad.wide.u32 %from, %t, 16, %b0;
ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%from];
mad.lo.u32 %a, %t, 16, %s;
st.shared.v4.b32 [%a], {%w0, %w1, %w2, %w3};
fence.proxy.async.shared::cta;
bar.warp.sync -1;
setp.ne.u32 %p, %t, 0;
@%p bra PUT;
SEND [%m0, {4, 2}], [%s];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
PUT:
bar.warp.sync -1;
st.shared.b32 [%a], %t;
"""
PUT_FAULTS = {
    "none": None,
    "no fence": Fault("fence.proxy.async.shared::cta;", "", "no fence.proxy.async"),
    "no meeting": Fault("bar.warp.sync -1;\nsetp", "setp", "no fence.proxy.async|nobody wrote"),
    "no wait": Fault("wait_group.read 0", "wait_group.read 1", "wrong|before its stores are read"),
    "no group": Fault("cp.async.bulk.commit_group;", "", "wrong|before its stores are read"),
    "bytes that nobody wrote": Fault("[%s];\ncp", "[%s+128];\ncp", "nobody wrote"),
}


@pytest.mark.parametrize("name", PUT_FAULTS)
@pytest.mark.parametrize("adds", [False, True])
def test_boxes_go(name: str, adds: bool):
    given = np.arange(128, dtype=np.float32).reshape(8, 16)
    words = "cp.reduce.async{}.add.tile" if adds else "cp.async{}"
    send = words.format(".bulk.tensor.2d.global.shared::cta") + ".bulk_group"

    def is_right(text: str, late: bool, seed: int) -> bool:
        out = np.full((9, 20), 0.5, np.float32)
        expected = out.copy()
        # Two columns, and the last row, are beyond the matrix.
        expected[2:9, 4:18] = given[:7, :14] + (0.5 if adds else 0)
        tensor_map = ptx.TensorMap(1, "f32", 18, 9, 80, 16, 8)
        run(text, [given, out], [tensor_map], late=late, seed=seed)
        return np.array_equal(out, expected)

    text = write_kernel(PUT.replace("SEND", send), 32, buffers=2, maps=1)
    check(text, is_right, PUT_FAULTS[name])


def test_bytes_come_and_go():
    """`cp.async.bulk` of bytes in a row."""
    come = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    go = "cp.async.bulk.global.shared::cta.bulk_group"
    body = BEGIN + EXPECT.format(96) + f"{come} [%s+16], [%b0+32], 96, [%bar];" + WAIT
    body += f"@%p bra OUT; {go} [%b1], [%s+16], 96; cp.async.bulk.commit_group;"
    body += "cp.async.bulk.wait_group 0; OUT:"
    given = np.arange(160, dtype=np.uint8)
    for late, seed in TIMES:
        out = np.zeros(96, np.uint8)
        run(write_kernel(body, 32, buffers=2), [given, out], late=late, seed=seed)
        assert np.array_equal(out, given[32:128])
    with pytest.raises(ptx.SimulationError, match="16 bytes at"):
        run(write_kernel(body.replace("+32", "+40"), 32, buffers=2), [given, out])


# Products


SIZES = {"e4m3": 1, "e5m2": 1, "bf16": 2, "f16": 2, "tf32": 4}
MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def write_product(kind: str, columns: int, span: int, turned: bool, depth: int) -> str:
    """A[64, K] * B[columns, K]; what a thread has of the result stands 128 apart."""
    size, row, count = SIZES[kind], span or 16, 32 // SIZES[kind]
    loads, operands, total = "", [], 0
    for number, rows in enumerate((64, columns)):
        high, wide = (depth, rows * size) if turned else (rows, depth * size)
        start, parts = 32768 * number, -(-wide // row)
        for part in range(parts):
            loads += f"add.u32 %to, %s, {start + part * row * high};\n"
            loads += BOX.format("%to", f"%m{number}", part * row // size, 0)
        total += parts * row * high
        # Bytes from one part of a row to the next, and from eight rows to the next.
        along, eight = row * high, 8 * row
        leading, stride = (along, eight) if span or not turned else (eight, along)
        word = (leading >> 4) << 16 | (stride >> 4) << 32 | MODES[span] << 62
        operands.append((start, along, word))
    body = BEGIN + EXPECT.format(total) + loads + WAIT + "wgmma.fence.sync.aligned;\n"
    results = ", ".join(f"%f{i}" for i in range(columns // 2))
    for i in range(depth // count):
        for name, (start, along, word) in zip("ab", operands, strict=True):
            # K goes down the rows, or along them and on in the next part.
            down, right = i * count * row, 32 * i // row * along + 32 * i % row
            body += f"add.u32 %u, %s, {start + (down if turned else right)}; shr.u32 %u, %u, 4;"
            body += f"cvt.u64.u32 %d{name}, %u; or.b64 %d{name}, %d{name}, {word};\n"
        flags = f", {int(turned)}, {int(turned)}" if size == 2 else ""
        body += f"setp.ne.b32 %adds, {i}, 0;\nwgmma.mma_async.sync.aligned.m64n{columns}k{count}"
        body += f".f32.{kind}.{kind} {{{results}}}, %da, %db, %adds, 1, 1{flags};\n"
    body += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
    body += "mad.wide.u32 %at, %t, 4, %b2;\n"
    for i in range(columns // 2):
        body += f"st.global.f32 [%at+{512 * i}], %f{i};\n"
    return write_kernel(body, 128, buffers=3, maps=2)


@dataclass
class Matrices:
    a: np.ndarray
    b: np.ndarray
    maps: list[ptx.TensorMap]
    product: np.ndarray


def make_matrices(kind: str, columns: int, span: int, turned: bool, depth: int) -> Matrices:
    size = SIZES[kind]
    generator, found, maps, values = np.random.default_rng(1), [], [], []
    for number, rows in enumerate((64, columns)):
        shape = (depth, rows) if turned else (rows, depth)
        bits = round_floats(kind, generator.standard_normal(shape).astype(np.float32))
        found.append(bits.astype(f"u{size}"))
        numbers = read_floats(kind, bits).astype(float)
        values.append(numbers.T if turned else numbers)
        box = (span or 16) // size, shape[0]
        element = {1: "u8", 2: "bf16", 4: "f32"}[size]
        maps.append(ptx.TensorMap(number, element, shape[1], shape[0], shape[1] * size, *box, span))
    return Matrices(*found, maps, values[0] @ values[1].T)


def multiply(text: str, given: Matrices, late: bool, seed: int) -> bool:
    columns = given.product.shape[1]
    out = np.zeros((columns // 2, 128), np.float32)
    run(text, [given.a, given.b, out], given.maps, late=late, seed=seed)
    found = np.zeros((64, columns))
    for i in range(columns // 2):
        for thread in range(128):
            row = thread // 32 * 16 + thread % 32 // 4 + (8 if i % 4 > 1 else 0)
            found[row, i // 4 * 8 + thread % 4 * 2 + i % 2] = out[i, thread]
    return np.allclose(found, given.product, rtol=1e-6, atol=1e-5)


PRODUCTS = [
    *(("e4m3", 64, span, False, 128) for span in (0, 32, 64, 128)),
    *(("bf16", 64, span, True, 32) for span in (0, 32, 64, 128)),
    *(("bf16", columns, 128, False, 64) for columns in (8, 24, 256)),
    ("e5m2", 128, 128, False, 32),
    ("f16", 128, 64, False, 64),
    ("f16", 192, 128, True, 48),
    ("tf32", 16, 128, False, 32),
]


@pytest.mark.parametrize(("kind", "columns", "span", "turned", "depth"), PRODUCTS)
def test_products(kind: str, columns: int, span: int, turned: bool, depth: int):
    shape = (kind, columns, span, turned, depth)
    given = make_matrices(*shape)
    for late, seed in ((True, 0), (False, 1)):
        assert multiply(write_product(*shape), given, late, seed)


FENCE, COMMIT = "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;"
PRODUCT_FAULTS = {
    "none": None,
    "no fence": Fault(FENCE, "", "no wgmma.fence"),
    "a register set after the fence": Fault(FENCE, FENCE + "mov.b32 %f3, 0;", "%f3 was used"),
    "no wait": Fault("wait_group.sync.aligned 0", "wait_group.sync.aligned 1", "under way to it"),
    "a register read before the wait": Fault(COMMIT, COMMIT + "mov.b32 %x, %f5;", "%f5 is used"),
    "no group": Fault(COMMIT, "", "%f0 is used while"),
    "no wait for the copies": Fault("@!%q bra WAIT;", "", "product of bytes of a copy under way"),
    "another swizzle": Fault(f"{1 << 62 | 64 << 32 | 512 << 16}", f"{64 << 32}", "wrong"),
    "amid eight rows": Fault("add.u32 %u, %s, 32768;", "add.u32 %u, %s, 32896;", "amid eight"),
    "bytes that nobody wrote": Fault("add.u32 %u, %s, 32768;", "add.u32 %u, %s, 49152;", "nobody"),
    "never written": Fault("%adds, 0, 0", "%adds, 1, 0", "%f0 is read and was never written"),
    "three warps": Fault(
        "setp.ne.u32 %p, %t, 0;",
        "setp.ge.u32 %z, %t, 96; @%z bra AWAY; setp.ne.u32 %p, %t, 0;",
        "four",
    ),
}


@pytest.mark.parametrize("name", PRODUCT_FAULTS)
def test_faults_of_products(name: str):
    shape = ("e4m3", 64, 128, False, 128)
    given = make_matrices(*shape)
    text = write_product(*shape).replace("\nret;", "\nAWAY:\nret;")
    check(text, lambda *when: multiply(when[0], given, *when[1:]), PRODUCT_FAULTS[name])


def write_gemm() -> str:
    """One warp loads, four multiply: A[64, 896] * B[64, 896] in two stages."""
    results = ", ".join(f"%f{i}" for i in range(32))
    parts = "".join(
        f"add.u64 %d, %da, {2 * i}; add.u64 %e, %db, {2 * i}; setp.ne.b32 %adds, {i}, 0;"
        + ("or.pred %adds, %adds, %later;\n" if i == 0 else "\n")
        + f"wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {{{results}}},"
        " %d, %e, %adds, 1, 1;\n"
        for i in range(4)
    )
    body = f"""
mov.u32 %s, smem;
add.u32 %full, %s, 32768;
setp.ne.u32 %p, %t, 0;
@%p bra READY;
mbarrier.init.shared::cta.b64 [%full], 1;
mbarrier.init.shared::cta.b64 [%full+8], 1;
mbarrier.init.shared::cta.b64 [%full+16], 4;
mbarrier.init.shared::cta.b64 [%full+24], 4;
fence.mbarrier_init.release.cluster;
READY:
bar.sync 0;
setp.gt.u32 %p, %t, 128;
@%p bra OUT;
setp.eq.u32 %loads, %t, 128;
and.b32 %lane, %t, 31;
mov.b32 %i, 0;
STAGE:
and.b32 %slot, %i, 1;
bfe.u32 %parity, %i, 1, 1;
xor.b32 %before, %parity, 1;
mad.lo.u32 %bar, %slot, 8, %full;
add.u32 %free, %bar, 16;
mad.lo.u32 %a, %slot, 16384, %s;
add.u32 %b, %a, 8192;
mul.lo.u32 %k, %i, 128;
@%loads bra FREE;
COME:
mbarrier.try_wait.parity.shared::cta.b64 %q, [%bar], %parity;
@!%q bra COME;
wgmma.fence.sync.aligned;
shr.u32 %a, %a, 4;
shr.u32 %b, %b, 4;
cvt.u64.u32 %da, %a;
cvt.u64.u32 %db, %b;
or.b64 %da, %da, {1 << 62 | 64 << 32};
or.b64 %db, %db, {1 << 62 | 64 << 32};
setp.ne.u32 %later, %i, 0;
{parts}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 1;
setp.eq.u32 %frees, %lane, 0;
and.pred %frees, %frees, %later;
xor.b32 %last, %free, 8;
@%frees mbarrier.arrive.shared::cta.b64 _, [%last];
bra NEXT;
FREE:
mbarrier.try_wait.parity.shared::cta.b64 %q, [%free], %before;
@!%q bra FREE;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16384;
{BOX.format("%a", "%m0", "%k", 0)}{BOX.format("%b", "%m1", "%k", 0)}
NEXT:
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 7;
@%p bra STAGE;
@%loads bra OUT;
wgmma.wait_group.sync.aligned 0;
mad.wide.u32 %at, %t, 4, %b2;
"""
    body += "\n".join(f"st.global.f32 [%at+{512 * i}], %f{i};" for i in range(32))
    return write_kernel(body + "\nOUT:", 160, buffers=3, maps=2)


GEMM_FAULTS = {
    "none": None,
    "a stage freed early": Fault(
        "and.pred %frees, %frees, %later;\nxor.b32 %last, %free, 8;",
        "mov.b32 %last, %free;",
        "product of bytes of a copy",
    ),
    "no stage freed": Fault("_, [%last];", "_, [%full+24];", "deadlock"),
    "a wait for one group less": Fault("aligned 1;", "aligned 2;", "product of bytes of a copy"),
    "sums read early": Fault("aligned 0;", "aligned 1;", "%f0 is used while"),
    "no wait for free stages": Fault("@!%q bra FREE;", "", "copy to bytes of a copy|of bytes of"),
    "no wait for stages that come": Fault("@!%q bra COME;", "", "nobody wrote|of bytes of a copy"),
    "parity of free stages": Fault("[%free], %before", "[%free], %parity", "deadlock"),
    "parity of full stages": Fault("[%bar], %parity", "[%bar], %before", "nobody wrote"),
    "fewer bytes": Fault("16384;\ncp", "8192;\ncp", "of bytes of a copy|more than"),
    "more bytes": Fault("16384;\ncp", "24576;\ncp", "deadlock"),
    "one warp frees a stage": Fault("], 4;", "], 1;", "more than 1 arrive|deadlock"),
    "no fence": Fault("wgmma.fence.sync.aligned;", "", "no wgmma.fence"),
    "barriers not seen": Fault("fence.mbarrier_init.release.cluster;", "", "with no fence"),
}


@pytest.mark.parametrize("name", GEMM_FAULTS)
def test_stages_of_a_product(name: str):
    given = make_matrices("e4m3", 64, 128, False, 896)
    for tensor_map in given.maps:
        assert (tensor_map.box_columns, tensor_map.box_rows) == (128, 64)
    check(write_gemm(), lambda *when: multiply(when[0], given, *when[1:]), GEMM_FAULTS[name])


ARRIVE, AWAIT = "barrier.cluster.arrive.release;\n", "barrier.cluster.wait.acquire;\n"
MEET = ARRIVE + AWAIT
CLUSTER = f"""
mov.u32 %s, smem;
add.u32 %bar, %s, 65536;
mov.u32 %rank, %cluster_ctarank;
xor.b32 %other, %rank, 1;
setp.ne.u32 %p, %t, 0;
@%p bra READY;
mbarrier.init.shared::cta.b64 [%bar], 1;
mbarrier.init.shared::cta.b64 [%bar+8], 1;
mbarrier.init.shared::cta.b64 [%bar+16], 32;
fence.mbarrier_init.release.cluster;
READY:
{MEET}
@%p bra WAIT;
{EXPECT.format(256)}
mad.lo.u32 %a, %rank, 128, %s;
cvt.u16.u32 %mask, 3;
{LOAD}.multicast::cluster [%a], [%m0, {{0, %rank}}], [%bar], %mask;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+8], 128;
{WAIT}
mad.lo.u32 %a, %t, 4, %s;
ld.shared.b32 %v, [%a];
ld.shared.b32 %w, [%a+128];
mad.lo.u32 %v, %w, 100, %v;
mad.lo.u32 %v, %rank, 7, %v;
add.u32 %to, %a, 1024;
add.u32 %x, %bar, 8;
mapa.shared::cluster.u32 %to, %to, %other;
mapa.shared::cluster.u32 %x, %x, %other;
st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%to], %v, [%x];
GOT:
mbarrier.try_wait.parity.shared::cta.b64 %q, [%bar+8], 0;
@!%q bra GOT;
ld.shared.b32 %r, [%a+1024];
add.u32 %x, %x, 8;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%x];
mov.u32 %block, %ctaid.x;
mad.lo.u32 %at, %block, 32, %t;
mad.wide.u32 %to, %at, 4, %b1;
st.global.b32 [%to], %r;
{MEET}
"""
CLUSTER_FAULTS = {
    "none": None,
    "no meeting first": Fault(f"READY:\n{MEET}", "READY:\n", "nobody initialised"),
    "no meeting last": Fault(f"%r;\n{MEET}", "%r;\n", "block that is at its end"),
    "one arrives twice": Fault(MEET, ARRIVE + MEET, "did not wait before"),
    "none arrives": Fault(MEET, AWAIT, "did not arrive"),
    "a box for one": Fault("%mask, 3", "%mask, 1", "deadlock"),
    "a box for a third": Fault("%mask, 3", "%mask, 7", "copy to blocks"),
    "bytes for the third": Fault("%to, %to, %other", "%to, %to, 2", "the cluster has not"),
    "a barrier of the own block": Fault("%x, %x, %other", "%x, %x, %rank", "different blocks"),
    "no wait": Fault("@!%q bra GOT;", "", "read of bytes of a copy|wrong"),
    "fewer bytes": Fault("[%bar+8], 128;", "[%bar+8], 64;", "read of bytes of a copy|more than"),
}


@pytest.mark.parametrize("name", CLUSTER_FAULTS)
def test_clusters(name: str):
    """Two blocks give each other a row each, and what they make of both."""
    rows = np.arange(64, dtype=np.uint32).reshape(2, 32)

    def is_right(text: str, late: bool, seed: int) -> bool:
        out = np.zeros((4, 32), np.uint32)
        tensor_map = ptx.TensorMap(0, "u32", 32, 2, 128, 32, 1)
        run(text, [rows, out], [tensor_map], grid=4, cluster=2, late=late, seed=seed)
        one = rows[0] + 100 * rows[1]
        return np.array_equal(out, [one + 7, one, one + 7, one])

    check(write_kernel(CLUSTER, 32, buffers=2, maps=1, cluster=2), is_right, CLUSTER_FAULTS[name])
