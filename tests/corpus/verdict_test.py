"""Invalid modules: our verifier refuses what jaxlib's refuses, and accepts what it accepts.

The modules are the negative parts of the ops' lit tests, and ops of the positive ones with one thing changed.
What we refuse beside that stands in strictness.py, with the constraint of the specification that forbids it.
"""

from __future__ import annotations

import functools

import pytest

pytest.importorskip("jaxlib")
import judges
from strictness import LAXER, STRICTER
from trials import Trial, lit_trials, mutant_trials

pytestmark = pytest.mark.skipif(judges.find_tool() is None, reason="torchere-opt is not built")
# Of the mutations one in so many is tried here; report.py tries all.
ONE_IN = 4

sample = functools.cache(lambda: mutant_trials(ONE_IN))


def fail_for_disputes(found: list[Trial]) -> None:
    wrong = [trial.dispute for trial in found if trial.dispute]
    if wrong:
        pytest.fail(f"{len(wrong)} of {len(found)}:\n" + "\n".join(wrong[:100]), pytrace=False)


def test_what_the_lit_tests_refuse():
    assert len(lit_trials()) >= 300
    assert not [trial.name for trial in lit_trials() if trial.ours.accepted]
    fail_for_disputes(lit_trials())


@pytest.mark.slow
def test_what_mutations_of_valid_ops_refuse():
    assert sum(not trial.theirs.accepted for trial in sample()) >= 300
    fail_for_disputes(sample())


@pytest.mark.slow
def test_no_difference_is_listed_in_vain():
    """Each entry of strictness.py is of a module on which the judges differ: its example, which is tried."""
    used = {difference for trial in (*lit_trials(), *sample()) for difference in trial.differences}
    gone = [f"{each.op}: {each.reason}" for each in (*STRICTER, *LAXER) if each not in used]
    assert not gone
