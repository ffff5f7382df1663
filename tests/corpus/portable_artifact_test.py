"""Portable artifacts of the corpus: our bytes are jaxlib's at every version, and each reads the other's.

Every module is compared at every version from 0.9.0 to jaxlib's own.
"""

from __future__ import annotations

import functools
import io
import itertools
import random
import re

import pytest

pytest.importorskip("jaxlib")
from case import Case
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager
from judges import is_newer, upstreams_context
from sources import QUICK, SOURCES, corpus

from torchere import _core

# A source is compared in parts, so that each takes less than a minute.
PARTS = {"jax_elementwise": 2, "jax_arrays": 2, "torch_rows": 2}
CHUNKS = [
    pytest.param(source, part, id=f"{source}-{part}", marks=() if source in QUICK else pytest.mark.slow)
    for source in SOURCES
    for part in range(PARTS.get(source, 1))
]
VERSIONS = [f"0.{minor}.0" for minor in range(9, 21)] + [f"1.{minor}.0" for minor in range(21)]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))


THEIR_VERSION = numbers(stablehlo.get_current_version())
SHARED = [version for version in VERSIONS if numbers(version) <= THEIR_VERSION]
NEWER = [version for version in VERSIONS if numbers(version) > THEIR_VERSION]
REFUSED = re.compile(
    r"\[[\w.-]+\] (StableHLO [\d.]+ |(attribute|type) .* has no form in a portable artifact)"
)


# Upstream's writer leaves ops of the newest version in the region of an op that it gives an older one.
MISWRITTEN = {"jax:scatter/apply": "1.1.0"}


class Upstream:
    """jaxlib, in one context."""

    def __init__(self) -> None:
        self.context = upstreams_context()
        self.context.emit_error_diagnostics = False

    def parsed(self, text: str) -> bytes:
        """The module without locations, in MLIR's own bytecode: to write an artifact changes a module."""
        with self.context:
            module = ir.Module.parse(text)
            PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
            bytecode = io.BytesIO()
            module.operation.write_bytecode(bytecode)
        return bytecode.getvalue()

    def written(self, parsed: bytes, version: str) -> bytes | None:
        """None where the version cannot hold the module."""
        with self.context:
            try:
                return stablehlo.serialize_portable_artifact(ir.Module.parse(parsed), version)
            except (ValueError, RuntimeError):
                return None

    def read(self, artifact: bytes) -> str:
        with self.context:
            return str(stablehlo.deserialize_portable_artifact(self.context, artifact)).strip()


def written(module: _core.Module, version: str) -> bytes | None:
    """None where the version cannot hold the module: the error says so."""
    try:
        return _core.serialize_portable_artifact(module, version)
    except RuntimeError as error:
        assert REFUSED.match(str(error)), error
        return None


def read(artifact: bytes) -> str:
    return _core.deserialize_portable_artifact(artifact).text().strip()


@functools.cache
def modules(source: str, part: int) -> list[tuple[Case, _core.Module]]:
    """The source's modules, every so many of them. Artifacts hold no CHLO. (The one op that upstream writes,
    chlo.constant, no other reader would know.)"""
    cases = [case for case in corpus(source)[part :: PARTS.get(source, 1)] if "chlo." not in case.text]
    return [(case, _core.Module.parse(case.text)) for case in cases]


def without_version(artifact: bytes, version: str) -> bytes:
    """What makes a version another one: most are read as the version before, but for the name."""
    return artifact.replace(f"StableHLO_v{version}".encode(), b"")


def report(found: list[str], of: int) -> None:
    if found:
        pytest.fail(f"{len(found)} of {of} modules:\n" + "\n".join(found[:50]), pytrace=False)


def first_difference(
    upstream: Upstream, text: str, module: _core.Module, since: str = SHARED[0]
) -> str | None:
    """Where our bytes, or what is read from either side's, are not theirs."""
    their_module, last = upstream.parsed(text), None
    for version in SHARED[SHARED.index(since) :]:
        ours, theirs = written(module, version), upstream.written(their_module, version)
        if ours != theirs:
            sizes = [len(artifact) if artifact else "refused" for artifact in (ours, theirs)]
            return f"{version}: ours {sizes[0]}, theirs {sizes[1]}"
        # Equal bytes, so that each reads the other's.
        if theirs is None or without_version(theirs, version) == last:
            continue
        last = without_version(theirs, version)
        if (read_by_us := read(theirs)) != (read_by_them := upstream.read(theirs)):
            return f"{version}: read as\n{read_by_us}\nand by them as\n{read_by_them}"
    return None


@pytest.mark.parametrize(("source", "part"), CHUNKS)
def test_bytes_are_upstreams_and_are_read_alike(source, part):
    """It is also the same modules that a version cannot hold."""
    upstream = Upstream()
    cases = [(case, module) for case, module in modules(source, part) if not is_newer(case.text)]
    differences = [
        (case, first_difference(upstream, case.text, module, MISWRITTEN.get(str(case), SHARED[0])))
        for case, module in cases
    ]
    report([f"{case}: {difference}" for case, difference in differences if difference], len(cases))


@pytest.mark.parametrize(("source", "part"), CHUNKS)
def test_versions_newer_than_upstreams_are_read_as_the_same(source, part):
    found = []
    for case, module in modules(source, part):
        newest = written(module, VERSIONS[-1])
        text = read(newest) if newest else None
        for version in [SHARED[-1], *NEWER[:-1]]:
            artifact = written(module, version)
            if artifact and newest:
                same = read(artifact) == text
            else:
                same = artifact == newest or is_newer(case.text)
            if not same:
                found.append(f"{case}: {version}")
    report(found, len(modules(source, part)))


def newer(artifact: bytes, version: str) -> bytes:
    """An artifact of jaxlib's version as one of a later version, of ops that have not changed since."""
    return artifact.replace(f"StableHLO_v{SHARED[-1]}".encode(), f"StableHLO_v{version}".encode())


def published(upstream: Upstream, case: Case, module: _core.Module, version: str) -> bytes | None:
    """As jaxlib writes it, or would. Calls changed in 1.18.0, so that those are ours."""
    if version in SHARED:
        return upstream.written(upstream.parsed(case.text), version) if not is_newer(case.text) else None
    if "custom_call" not in case.text:
        return newer(upstream.written(upstream.parsed(case.text), SHARED[-1]), version)
    artifact = written(module, version)
    assert b"custom_call_v2" in artifact
    return artifact


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_published_is_read_and_written_back_equal(version):
    upstream, found, held = Upstream(), [], 0
    for case, module in modules("published", 0):
        artifact = published(upstream, case, module, version)
        if artifact is None:
            if written(module, version) is not None:
                found.append(f"{case}: not of this version")
            continue
        held += 1
        back = _core.deserialize_portable_artifact(artifact)
        if back.text() != module.text() or written(back, version) != artifact:
            found.append(f"{case}: not the same")
    report(found, held)
    assert held >= 25


@pytest.mark.parametrize("version", ["0.9.0", "1.17.0"])
def test_tilings_are_no_part_of_older_versions(version):
    (module,) = (module for case, module in modules("published", 0) if case.name == "custom_call/tilings")
    refusal = rf"\[stablehlo.custom_call\] StableHLO {version} has no attribute result_tilings: got \[\[dense"
    with pytest.raises(RuntimeError, match=refusal):
        _core.serialize_portable_artifact(module, version)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("pattern", ["mixed", "true", "false"])
def test_bools_are_upstreams(count, pattern):
    values = [index % 3 == 0 if pattern == "mixed" else pattern == "true" for index in range(count)]
    listed = ", ".join(str(value).lower() for value in values)
    text = f"func.func @f() {{ %0 = stablehlo.constant dense<[{listed}]> : tensor<{count}xi1> return }}"
    assert first_difference(Upstream(), text, _core.Module.parse(text)) is None


@pytest.mark.parametrize("count", [2, 3, 8, 49, 100])
def test_values_of_one_range_are_listed_as_upstreams(count):
    """Each argument, and each result, has a use by an op that has an older version, and another one."""
    types = ", ".join(["tensor<f32>"] * count)
    pairs, arguments = [f"%b{index} = %a" for index in range(count)], [f"%b{index}" for index in range(count)]
    results = [f"%1#{index}" for index in range(count)]
    older = [f"%c{index} = stablehlo.cosine %b{index} : tensor<f32>" for index in range(count)]
    others = [f"%d{index} = stablehlo.add %1#{index}, %a : tensor<f32>" for index in range(count)]
    text = f"""func.func @f(%a: tensor<f32>, %p: tensor<i1>, %t: !stablehlo.token) -> tensor<f32> {{
      %0:{count} = stablehlo.while({", ".join(pairs)}) : {types}
      cond {{
        stablehlo.return %p : tensor<i1>
      }} do {{
        {" ".join(older)}
        stablehlo.return {", ".join(arguments)} : {types}
      }}
      %1:{count + 1} = "stablehlo.recv"(%t) <{{is_host_transfer = true,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>}}>
        : (!stablehlo.token) -> ({types}, !stablehlo.token)
      %2:{count} = stablehlo.optimization_barrier {", ".join(results)} : {types}
      {" ".join(others)}
      return %2#0 : tensor<f32>
    }}"""
    assert first_difference(Upstream(), text, _core.Module.parse(text)) is None


def chained(choice: random.Random) -> str:
    """Ops that have older versions, or have none, of values before them, in a loop and around it."""
    names = (f"%v{index}" for index in itertools.count())

    def chain(values: list[str]) -> list[str]:
        lines = []
        for _ in range(choice.randint(1, 12)):
            op, operands = choice.choice([("exponential", 1), ("sine", 1), ("tanh", 1), ("add", 2)])
            taken = ", ".join(choice.choices(values, k=operands))
            values.append(next(names))
            lines.append(f"{values[-1]} = stablehlo.{op} {taken} : tensor<f32>")
        return lines

    types, outer = ", ".join(["tensor<f32>"] * 3), ["%a", "%b"]
    before, inner = chain(outer), [*outer, "%x", "%y", "%z"]
    carried, body = choice.choices(outer, k=3), chain(inner)
    outer += ["%w#0", "%w#1", "%w#2"]
    lines = [
        "func.func @f(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {",
        *before,
        f"%w:3 = stablehlo.while(%x = {carried[0]}, %y = {carried[1]}, %z = {carried[2]}) : {types}",
        "cond { stablehlo.return %p : tensor<i1> } do {",
        *body,
        f"stablehlo.return {', '.join(choice.choices(inner, k=3))} : {types} }}",
        *chain(outer),
        f"return {choice.choice(outer)} : tensor<f32> }}",
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(20))
def test_orders_of_uses_are_upstreams(seed):
    text = chained(random.Random(seed))
    assert first_difference(Upstream(), text, _core.Module.parse(text)) is None


def test_what_their_own_version_writes_is_read():
    text = "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
    upstream = Upstream()
    artifact = upstream.written(upstream.parsed(text), stablehlo.get_current_version())
    assert read(artifact) == upstream.read(artifact)
