"""Every schema of the installed torch is read, and printed as torch prints it."""

import pytest
import torch
import torch.distributed.tensor  # whose ops take types that no ATen op takes

from torchere._core import Schema
from torchere.errors import InvalidArgumentError

SCHEMAS = torch._C._jit_get_all_schemas()


def alias(argument):
    info = argument.alias_info
    # What torch keeps for a list of which only the elements alias has no sets of its own.
    if info is None or not info.before_set:
        return None
    return info.before_set, info.after_set, info.is_write


def own_alias(argument):
    found = argument.alias
    return found and (set(found.before), set(found.after), found.is_write)


def test_all_schemas_are_there():
    names = {schema.name.split("::")[0] for schema in SCHEMAS}
    assert len(SCHEMAS) > 3500
    assert {"aten", "prim", "prims", "quantized"} <= names


def test_every_schema_is_printed_as_torch_does():
    texts = [str(schema) for schema in SCHEMAS]
    assert [str(Schema(text)) for text in texts] == texts


def test_every_argument_is_torchs():
    for schema in SCHEMAS:
        ours = Schema(str(schema))
        overload = schema.overload_name or "default"
        assert ours.name == schema.name.replace("::", ".") + "." + overload
        for mine, theirs in ((ours.arguments, schema.arguments), (ours.results, schema.returns)):
            assert [a.name for a in mine] == [a.name for a in theirs], ours.name
            assert [own_alias(a) for a in mine] == [alias(a) for a in theirs], ours.name
        assert [a.is_keyword_only for a in ours.arguments] == [a.kwarg_only for a in schema.arguments]
        defaults = [a.has_default_value() for a in schema.arguments]
        assert [a.default_text is not None for a in ours.arguments] == defaults
        # torch says "mutable" of each argument with a write, elements of lists included.
        written = [a.is_write for a in schema.arguments]
        assert [a.is_written for a in ours.arguments] == written, ours.name


def test_bad_text_is_an_error():
    with pytest.raises(InvalidArgumentError, match="at column 9: got 'Tensr', expected a type"):
        Schema("aten::x(Tensr self) -> Tensor")
