"""The corpus's modules in our text and in upstream's: the same to the letter, in both directions."""

from __future__ import annotations

import functools

import pytest

pytest.importorskip("jaxlib")
import judges
from case import Case
from judges import GENERIC, LOCATIONS, PLAIN, Verdict
from sources import QUICK, ROOT, SOURCES, corpus

pytestmark = pytest.mark.skipif(judges.find_tool() is None, reason="torchere-opt is not built")
SOURCE = [source if source in QUICK else pytest.param(source, marks=pytest.mark.slow) for source in SOURCES]
FORMS = {"plain": PLAIN, "generic": GENERIC, "locations": LOCATIONS}


def known(source: str) -> list[Case]:
    return [case for case in corpus(source) if not judges.is_newer(case.text)]


def differences(cases: list[Case], left: list[Verdict], right: list[Verdict]) -> list[str]:
    """What the judges of each module do not agree on: both must accept it and print the same."""
    found = []
    for case, ours, theirs in zip(cases, left, right, strict=True):
        if ours.text is None or theirs.text is None:
            found.append(f"{case}: ours: {ours.error or 'accepted'}; theirs: {theirs.error or 'accepted'}")
        elif ours.text != theirs.text:
            lines = zip(ours.text.splitlines(), theirs.text.splitlines(), strict=False)
            first = next(((a, b) for a, b in lines if a != b), ("(shorter)", "(shorter)"))
            found.append(f"{case}:\n  ours:   {first[0].strip()}\n  theirs: {first[1].strip()}")
    return found


def agree(cases: list[Case], left: list[Verdict], right: list[Verdict]) -> None:
    if found := differences(cases, left, right):
        pytest.fail(f"{len(found)} of {len(cases)} modules:\n" + "\n".join(found[:50]), pytrace=False)


@functools.cache
def texts_with_locations(source: str) -> list[str]:
    return [verdict.text or "" for verdict in judges.theirs([case.text for case in known(source)], LOCATIONS)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", SOURCE)
def test_both_print_the_same_and_read_each_other(source, form):
    """Text with locations first, so that both take the places of a module's lines from the text itself."""
    cases = known(source)
    texts = texts_with_locations(source)
    ours, theirs = judges.ours(texts, FORMS[form]), judges.theirs(texts, FORMS[form])
    agree(cases, ours, theirs)
    printed = [verdict.text for verdict in ours]
    agree(cases, judges.ours(printed, FORMS[form]), ours)
    agree(cases, judges.theirs(printed, FORMS[form]), ours)


@pytest.mark.parametrize(
    ("dialect", "prefix", "least"), [("stablehlo", "StableHLO", 118), ("chlo", "CHLO", 51)]
)
def test_the_corpus_holds_every_op(dialect, prefix, least):
    declared = set()
    for definitions in (ROOT / "src/stablehlo").glob("*.td"):
        for line in definitions.read_text().replace("\n    :", " :").splitlines():
            if line.startswith(f"def {prefix}_") and "Op :" in line and '<"' in line:
                declared.add(line.split('<"')[1].split('"')[0])
    assert len(declared) >= least
    text = "".join(case.text for case in corpus("lit"))
    assert not {op for op in declared if f"{dialect}.{op}" not in text}


@pytest.mark.slow
def test_the_corpus_is_large():
    texts = {case.text for source in SOURCES for case in corpus(source)}
    assert len(texts) >= 300


def test_a_scalar_dynamic_slice_is_readable_upstream():
    """Upstream prints one without a comma, which it cannot read."""
    slice_op = "stablehlo.dynamic_slice %a, sizes = [] : (tensor<f32>) -> tensor<f32>"
    text = f"func.func @main(%a: tensor<f32>) -> tensor<f32> {{ %0 = {slice_op} return %0 : tensor<f32> }}"
    (ours,) = judges.ours([text])
    assert judges.theirs([ours.text])[0].accepted
