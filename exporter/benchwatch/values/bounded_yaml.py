"""YAML from untrusted authors: its size, depth and number of values are checked before anything is built.

A few hundred bytes of YAML can stand for gigabytes (aliases of aliases) or be slow to read (depth). Therefore the
parser's events are counted first; an alias counts as often as the values for which it stands. Only then are nodes and
values built, by libyaml if PyYAML has it. Unlike in YAML 1.1, dates stay text (`2024-02-30` is a label's value, not a
fault) and numbers have at most 64 bits. Any other scalar that cannot be read is an error with its line.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

_DATE = "tag:yaml.org,2002:timestamp"
_NUMBERS = ("int", "float")
_LONGEST_NUMBER = 100
"""Characters."""
_SENTENCE = 200
"""Characters of a message; a document may have written some of them."""


class Bounds(NamedTuple):
    """How large a document may be."""

    size: int
    """Bytes."""
    values: int
    """Keys, values and lists; an alias counts as all values for which it stands."""
    depth: int = 16
    """Nested lists and mappings."""


RECORD = Bounds(256 * 1024, 2_000)
"""For a record of a run. Anybody may push one, so the exporter must read it within a few milliseconds."""
CONFIGURATION = Bounds(16 * 1024 * 1024, 200_000)
"""For a file of the exporter's owner, which is read once at the start; a mapping may name thousands of vdisks."""


class YamlDocument(NamedTuple):
    """The content of a text."""

    content: Any
    node: yaml.Node | None
    """The content with positions in the text; None for an empty text."""


class YamlUnreadable(ValueError):
    """The text is not YAML, or exceeds the bounds: a sentence, and the line (from 1) if known."""

    def __init__(self, sentence: str, line: int | None) -> None:
        clean = "".join(char if char.isprintable() else "\ufffd" for char in sentence[:_SENTENCE])
        super().__init__(clean)
        self.line = line


class _Loader(_SafeLoader):
    """Builds the values of a document that was counted."""


def _checked(kind: str) -> Callable[[Any, Any], Any]:
    """A constructor for a kind of scalar; every failure is an error of YAML with its line."""
    construct = getattr(_SafeLoader, f"construct_yaml_{kind}")

    def checked(loader: _SafeLoader, node: yaml.Node) -> Any:
        fault = f"{kind} that cannot be read"
        try:
            # The time for a number grows with the square of its length.
            if kind not in _NUMBERS or len(node.value) <= _LONGEST_NUMBER:
                value = construct(loader, node)
                if kind != "int" or -(2**63) <= value < 2**63:
                    return value
            fault = "number of more than 64 bits (put it in quotes to make it a text)"
        except yaml.YAMLError:
            raise
        except Exception:  # ValueError of int(), KeyError of a bool, AttributeError of a date ...
            pass
        raise yaml.constructor.ConstructorError(None, None, f"{fault}: {node.value[:60]!r}", node.start_mark)

    return checked


for _kind in ("bool", "int", "float", "binary", "timestamp"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _checked(_kind))
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != _DATE]
    for first, found in _SafeLoader.yaml_implicit_resolvers.items()
}


def load(text: str, bounds: Bounds) -> YamlDocument:
    """The one document of a text. Raises YamlUnreadable."""
    try:
        _count(text, bounds)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            return YamlDocument(None if node is None else loader.construct_document(node), node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or " ".join(str(error).split())
        last = text.rstrip("\n").count("\n") + 1  # libyaml reports a missing end on a line after the last one
        raise YamlUnreadable(f"expected YAML: {problem}", min(mark.line + 1, last) if mark else None) from error


def _count(text: str, bounds: Bounds) -> None:
    """Raises YamlUnreadable if the text exceeds its bounds, and YAMLError if it is not YAML."""
    total = 0
    within: list[tuple[str | None, int]] = []  # open lists and mappings: anchor, and `total` before it
    anchored: dict[str | None, int] = {}
    for event in yaml.parse(text, Loader=_SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = within.pop()
            if anchor is not None:
                anchored[anchor] = total - before
            continue
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in within):
                raise YamlUnreadable(f"expected no alias within what it stands for, got *{event.anchor}", line)
            total += anchored.get(event.anchor, 1)
        elif isinstance(event, yaml.NodeEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                within.append((event.anchor, total))
            elif event.anchor is not None:
                anchored[event.anchor] = 1
            total += 1
        if total > bounds.values:
            raise YamlUnreadable(f"expected at most {bounds.values} keys and values, aliases written out", line)
        if len(within) > bounds.depth:
            raise YamlUnreadable(f"expected at most {bounds.depth} lists and mappings nested in each other", line)
