"""Prints how many modules the corpus holds, by source, and on how many our tools and jaxlib's agree.

python tests/corpus/report.py [source ...]

Names of sources leave out the others; "invalid" is that of the invalid modules, all of which are tried, and
what the judges dispute is named. The exit status says whether there is any dispute.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable

import judges
from judges import GENERIC, LOCATIONS, PLAIN, Verdict
from sources import SOURCES, corpus
from strictness import LAXER, STRICTER
from trials import Trial, lit_trials, mutant_trials

INVALID = "invalid"


def main() -> int:
    chosen = sys.argv[1:] or [*SOURCES, INVALID]
    print_texts([source for source in chosen if source != INVALID])
    return print_verdicts() if INVALID in chosen else 0


def print_texts(chosen: list[str]) -> None:
    if not chosen:
        return
    print(f"{'source':<18}{'modules':>9}{'read':>9}{'plain':>9}{'generic':>9}{'locations':>11}{'seconds':>9}")
    total: Counter[str] = Counter()
    for source in chosen:
        start = time.perf_counter()
        row = text_row(source)
        total.update(row)
        print_row(source, row, time.perf_counter() - start)
    print_row("all", total)


def print_verdicts() -> int:
    """Of every invalid module; 1 if there is a dispute or a listed difference is of none, else 0."""
    print(f"\n{'invalid modules':<18}{'modules':>9}{'refused':>9}{'agreed':>9}{'stricter':>9}{'laxer':>9}")
    found = {"lit": lit_trials(), "mutations": mutant_trials(one_in=1)}
    for name, trials in found.items():
        print_trials(name, trials)
    everything = [trial for trials in found.values() for trial in trials]
    disputes = [trial.dispute for trial in everything if trial.dispute]
    used = {difference for trial in everything for difference in trial.differences}
    gone = [each for each in (*STRICTER, *LAXER) if each not in used]
    print(*(f"disputed: {text}" for text in disputes), *(f"in vain: {each}" for each in gone), sep="\n")
    return 1 if disputes or gone else 0


def text_row(source: str) -> Counter[str]:
    """The modules of a source, those that both read, and those of which both print the same in each form."""
    texts = [verdict.text or "" for verdict in judges.theirs([c.text for c in corpus(source)], LOCATIONS)]
    row = Counter(modules=len(texts))
    for name, form in (("plain", PLAIN), ("generic", GENERIC), ("locations", LOCATIONS)):
        pairs = list(zip(judges.ours(texts, form), judges.theirs(texts, form), strict=True))
        row["read"] = count(pairs, lambda ours, theirs: ours.accepted and theirs.accepted)
        row[name] = count(pairs, lambda ours, theirs: ours.accepted and ours.text == theirs.text)
    return row


def count(pairs: list[tuple[Verdict, Verdict]], holds: Callable[[Verdict, Verdict], bool]) -> int:
    return sum(holds(*pair) for pair in pairs)


def print_row(source: str, row: Counter[str], seconds: float | None = None) -> None:
    counts = "".join(f"{row[name]:>9}" for name in ("modules", "read", "plain", "generic"))
    taken = f"{seconds:>9.1f}" if seconds is not None else ""
    print(f"{source:<18}{counts}{row['locations']:>11}{taken}", flush=True)


def print_trials(name: str, trials: list[Trial]) -> None:
    """How many there are, that jaxlib refuses, that both do, that we alone do, that jaxlib alone does."""
    numbers = (
        len(trials),
        sum(not trial.theirs.accepted for trial in trials),
        sum(not trial.theirs.accepted and not trial.ours.accepted for trial in trials),
        sum(trial.differs and trial.theirs.accepted for trial in trials),
        sum(trial.differs and trial.ours.accepted for trial in trials),
    )
    print(f"{name:<18}" + "".join(f"{number:>9}" for number in numbers), flush=True)


if __name__ == "__main__":
    sys.exit(main())
