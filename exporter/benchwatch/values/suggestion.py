"""Suggests the word that was probably meant by a mistyped word."""

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that suggests the most similar known word; empty if no word is similar."""
    from difflib import get_close_matches  # imported only when needed

    words = list(known)
    found = [one for one in words if len(word) > 3 and one.startswith(word)] or get_close_matches(word, words, 1)
    return f"; did you mean {found[0]}?" if found else ""


def either(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
