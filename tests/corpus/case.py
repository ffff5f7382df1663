"""What the corpus is made of: named modules as text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A module: its source ("lit", "jax" or "torch"), a name, and its text, with or without locations."""

    source: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.source}:{self.name}"
