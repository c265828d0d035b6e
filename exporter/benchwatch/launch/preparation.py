"""What a launcher needs to know of a benchmark's command, whichever tool it is."""

from typing import NamedTuple


class Preparation(NamedTuple):
    """What is added to a command, and what follows from it."""

    added: tuple[str, ...] = ()
    """Reporting flags that are missing, to stand before all other arguments: what is given there goes before them."""
    remarks: tuple[str, ...] = ()
    """Sentences about what will not be seen, for the user."""
    length: float | None = None
    """How long the benchmark will measure, seconds; None if that is not known."""

    def remark(self, sentence: str) -> "Preparation":
        """The same with another sentence."""
        return self._replace(remarks=(*self.remarks, sentence))
