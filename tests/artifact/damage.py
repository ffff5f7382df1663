"""Damage to the files of a saved program: at random, or to what they mean. A seed gives the same again."""

from __future__ import annotations

import copy
import json
import os
import random
import re
from pathlib import Path
from typing import Any

# Replaced in the text of a document by so many levels of lists.
DEEP = {"@150 levels@": 150, "@100000 levels@": 100_000}

VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2**31, 2**63, 2**64, -(2**63), 1e308, 0.5,
    "", "x", "..", "../../etc/passwd", "/etc/passwd", "a/../b", "a\0b", "\ud800", "é" * 50_000,
    "subprocess.Popen", "os.system", "torch.hub.load", "s0", "s0 / 0", "9" * 400, "(" * 100_000,
    [], {}, [None], {"kind": "leaf"}, {"dtype": "float32"}, {"layout": "hub"}, {"device": "nowhere:7"},
    {"float": "nan"}, {"tuple": [1, {"complex": [0.0, 1.0]}]}, *DEEP,
]  # fmt: skip
ENUM = json.dumps({"__enum__": True, "fqn": "antigravity:Color", "name": "RED"})
TREES: list[Any] = [
    {"kind": "custom", "type": "subprocess.Popen", "keys": ["args"], "children": [{"kind": "leaf"}]},
    {"kind": "namedtuple", "type": "os.system", "keys": ["command"], "children": [{"kind": "leaf"}]},
    {"kind": "custom", "type": "mutation_child.Out", "context": ENUM, "children": [{"kind": "leaf"}] * 2},
    {"type": "mutation_child.Out", "context": ENUM, "children_spec": []},
    {"type": "collections.namedtuple", "context": "os.system", "children_spec": []},
]
HEADERS = [
    b"'|O'", b"'>f4'", b"'<f8'", b"'<U4'", b"'V2'", b"'<f1000'", b"[('a', '<f4')]", b"(4,)", b"(0,)",
    b"(-1,)", b"(9223372036854775807, 9223372036854775807)", b"(1, 1, 1, 1)", b"True", b"__import__('os')",
]  # fmt: skip


def damage(path: Path, random: random.Random) -> str:
    """Changes the bytes of a file; says how."""
    data = bytearray(path.read_bytes())
    place, length = random.randrange(len(data) + 1), random.choice([1, 1, 2, 8, 40, 1000])
    how = random.choice(["flip", "flip", "set", "cut", "insert", "remove", "repeat", "other", "empty"])
    if how == "flip" and data:
        data[place % len(data)] ^= 1 << random.randrange(8)
    elif how == "set" and data:
        data[place % len(data)] = random.choice(b"\0\xff\xfe\x80\"'\\[]{}0129-,:\n")
    elif how == "cut":
        del data[place:]
    elif how == "insert":
        data[place:place] = random.randbytes(length)
    elif how == "remove":
        del data[place : place + length]
    elif how == "repeat":
        data[place:place] = data[place : place + length]
    elif how == "other":
        source = random.choice(sorted(other for other in path.parent.parent.rglob("*") if other.is_file()))
        data[place : place + length] = source.read_bytes()[:1000]
    elif how == "empty":
        data.clear()
    replace(path, bytes(data))
    return f"{how} at {place}, {length} bytes"


def damage_meaning(path: Path, random: random.Random) -> str:
    """Changes what a file says, and leaves its form."""
    if random.random() < 0.1:
        return damage_kind(path, random)
    if path.suffix in (".json", ".meta"):
        return damage_json(path, random)
    if path.suffix == ".mlir":
        return damage_text(path, random)
    if path.suffix == ".bytecode":
        return damage(path, random)
    data = path.read_bytes()
    new = random.choice(HEADERS)
    pattern = random.choice([rb"'[<|>][^']*'", rb"\([0-9, ]*\)", rb"False"])
    replace(path, re.sub(pattern, lambda _: new, data, count=1))
    return f"header {new!r}"


def damage_kind(path: Path, random: random.Random) -> str:
    """Another kind of file, or none."""
    kind = random.choice(["gone", "directory", "link", "loop", "pipe"])
    path.unlink()
    if kind == "directory":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("/etc/passwd")
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "pipe":
        os.mkfifo(path)
    return kind


def damage_text(path: Path, random: random.Random) -> str:
    """A number or a word of the module becomes another one."""
    text = path.read_text()
    words = list(re.finditer(r"[0-9]+|[a-z_]+\.[a-z_]+|\b[a-z][a-z0-9]+\b", text))
    one = random.choice(words)
    value = random.choice(
        ["0", "1", "-1", "7", "99999999999999999999", "f64", "stablehlo.add", "?", "x" * 5000]
    )
    if random.random() < 0.5:
        value = random.choice(words).group()
    replace(path, (text[: one.start()] + value + text[one.end() :]).encode())
    return f"{one.group()!r} at {one.start()} became {value[:40]!r}"


def damage_json(path: Path, random: random.Random) -> str:
    document = [json.loads(path.read_text())]
    how = change(document, random)
    text = json.dumps(document[0])
    for mark, levels in DEEP.items():
        text = text.replace(json.dumps(mark), "[" * levels + "]" * levels)
    if random.random() < 0.05 and text.startswith("{"):
        text = "{" + text[1:-1] + "," + text[1:]  # every key twice
    replace(path, text.encode())
    return how


def change(document: list[Any], random: random.Random) -> str:
    """Changes one value of the document, which may be the text of another one (torch's trees in a .meta)."""
    place = random.choice(list(places(document)))
    container, key = place
    value = container[key]
    if isinstance(value, str) and value.startswith("[1, {") and random.random() < 0.9:
        inner = [json.loads(value)]
        how = change(inner, random)
        container[key] = json.dumps(inner[0])
        return "in a tree: " + how
    how = random.choice(["value", "value", "value", "tree", "delete", "repeat", "sibling", "grow"])
    if how == "value":
        container[key] = random.choice(VALUES)
    elif how == "tree":
        container[key] = random.choice(TREES)
    elif how == "delete" and container is not document:
        del container[key]
    elif how == "repeat" and isinstance(container, list) and container is not document:
        container.insert(key, value)
    elif how == "sibling":
        container[key] = copy.deepcopy(random.choice([other[name] for other, name in places(document)]))
    elif how == "grow" and isinstance(value, int):
        container[key] = value + random.choice([1, -1, 2**40])
    return f"{how} of {key!r}, which was {str(value)[:60]}"


def places(value: Any):
    """Every (container, key) of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in list(items):
        yield value, key
        yield from places(child)


def replace(path: Path, data: bytes) -> None:
    """Another file of that name: programs that were loaded before have mapped the old one."""
    path.unlink()
    path.write_bytes(data)
