"""What the corpus is made of: named modules as text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A module: its source ("lit", "jax" or "torch"), a name, its text, with or without locations, and of one
    that joins several what each of main's results is of."""

    source: str
    name: str
    text: str
    results: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.source}:{self.name}"
