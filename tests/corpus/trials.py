"""Invalid modules before both judges: negative parts of the lit tests, and mutations of valid ops."""

from __future__ import annotations

import dataclasses
import functools
import re
import zlib

import judges
from judges import Verdict
from mutations import Mutant, mutated
from seeds import seeds
from sources import corpus, lit_parts
from strictness import LAXER, STRICTER, Difference

# jaxlib reads behind the operands of a reduce that has an odd number of them, which ends it now and then.
FATAL = re.compile(r"stablehlo.reduce/operand \d+: (dropped|twice)")


@dataclasses.dataclass(frozen=True)
class Trial:
    """A module of one op, and what both judges say of it."""

    name: str
    op: str
    ours: Verdict
    theirs: Verdict

    @property
    def differs(self) -> bool:
        return self.ours.accepted != self.theirs.accepted

    @property
    def differences(self) -> list[Difference]:
        """The listed ones that are of this trial."""
        if not self.differs:
            return []
        listed, error = (LAXER, self.theirs.error) if self.ours.accepted else (STRICTER, self.ours.error)
        return [each for each in listed if each.covers(self.op, error)]

    @property
    def dispute(self) -> str | None:
        """What is wrong when the judges differ and none is listed."""
        if not self.differs or self.differences:
            return None
        if self.ours.accepted:
            return f"{self.name}: we accept what jaxlib refuses: {self.theirs.error}"
        return f"{self.name}: we refuse what jaxlib accepts: {self.ours.error}"


def trials(modules: list[tuple[str, str, str]]) -> list[Trial]:
    """The judgements of (name, op, text)."""
    texts = [text for _, _, text in modules]
    verdicts = zip(modules, judges.ours(texts), judges.theirs_apart(texts), strict=True)
    return [Trial(name, op, ours, theirs) for (name, op, _), ours, theirs in verdicts]


@functools.cache
def lit_trials() -> list[Trial]:
    cases = lit_parts(valid=False)
    return trials([(str(case), case.name.split("/")[0], case.text) for case in cases])


def mutants() -> list[Mutant]:
    texts = [case.text for source in ("lit", "jax_contractions") for case in corpus(source)]
    distinct = {mutant.text: mutant for mutant in mutated(seeds(texts))}.values()
    return [mutant for mutant in distinct if not FATAL.fullmatch(mutant.name)]


def mutant_trials(one_in: int) -> list[Trial]:
    """One in so many of the names of mutations, by a hash, and the examples of the listed differences."""
    examples = {each.example for each in (*STRICTER, *LAXER)}
    chosen = [m for m in mutants() if m.name in examples or zlib.crc32(m.name.encode()) % one_in == 0]
    return trials([(m.name, m.op, m.text) for m in chosen])
