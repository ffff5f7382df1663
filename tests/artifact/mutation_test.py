"""Damaged programs: whatever a file says, loading and calling gives a torchere.Error or has no effect."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("mutation_child.py")
MOST_DEATHS = 20


def run_child(*arguments):
    return subprocess.run(
        [sys.executable, CHILD, *map(str, arguments)], capture_output=True, text=True, errors="replace"
    )


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    saved = run_child(folder)
    assert saved.returncode == 0, saved.stderr
    return folder


def findings_of(programs, seed, at_random, with_meaning):
    """What went wrong, and how many changes had which outcome. A child that dies is followed by another."""
    findings, outcomes, first = [], Counter(), 0
    while first < at_random + with_meaning and len(findings) < MOST_DEATHS:
        child = run_child(programs, seed, at_random, with_meaning, first)
        told = [json.loads(line) for line in child.stdout.splitlines()]
        findings += [json.dumps(one, indent=1).replace("\\n", "\n") for one in told if "finding" in one]
        outcomes.update(one["outcome"].split(":")[0] for one in told)
        first += len(told) + 1
        if child.returncode != 0:
            findings.append(
                f"change {first - 1} ended the process: {child.returncode}\n{child.stderr[-3000:]}"
            )
    return findings, outcomes


def check(programs, seed, at_random, with_meaning):
    print(f"seed {seed}")
    findings, outcomes = findings_of(programs, seed, at_random, with_meaning)
    print(dict(outcomes))
    assert not findings, f"seed {seed}:\n" + "\n".join(findings)
    assert sum(outcomes.values()) == at_random + with_meaning
    # Both ends were seen: damage that is refused, and damage that does not matter or changes a number.
    assert outcomes["works"] > 0.05 * at_random and outcomes["Error"] > 0.2 * at_random


@pytest.mark.slow
def test_some_damaged_programs(programs):
    check(programs, 1, 160, 100)


@pytest.mark.sweep
def test_all_damaged_programs(programs):
    seed = os.environ.get("TORCHERE_MUTATION_SEED") or int.from_bytes(os.urandom(4), "big")
    check(programs, int(seed), 2000, 500)
