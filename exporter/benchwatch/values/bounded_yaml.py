"""YAML from untrusted authors: its size, depth and number of values are bounded before anything is built.

A few hundred bytes of YAML can stand for gigabytes (aliases of aliases) and be slow to read (depth). So the parser's
events are counted first, an alias as often as what it stands for; only then are nodes and values made, by libyaml
where PyYAML has it. Of YAML 1.1's scalars dates stay text (`2024-02-30` is a label's value, not a fault), and numbers
end at 64 bits; whatever else a scalar cannot be read as is an error with its line.
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
"""Characters of a message that a document can have a part in."""


class Bounds(NamedTuple):
    """How large a document may be."""

    size: int
    """Bytes."""
    values: int
    """Keys, values and lists, each alias counted as all that it stands for."""
    depth: int = 16
    """Lists and mappings within each other."""


RECORD = Bounds(256 * 1024, 2_000)
"""A record of a run, which anybody may push: read within a few milliseconds, where scrapes are answered."""
CONFIGURATION = Bounds(16 * 1024 * 1024, 200_000)
"""A file that the exporter's owner wrote, read once at the start; a mapping may name thousands of vdisks."""


class YamlDocument(NamedTuple):
    """The content of a text."""

    content: Any
    node: yaml.Node | None
    """The same with positions in the text; None for an empty text."""


class YamlUnreadable(ValueError):
    """A text that is not YAML, or exceeds the bounds: a sentence, and its line (from 1), if known."""

    def __init__(self, sentence: str, line: int | None) -> None:
        clean = "".join(char if char.isprintable() else "\ufffd" for char in sentence[:_SENTENCE])
        super().__init__(clean)
        self.line = line


class _Loader(_SafeLoader):
    """Makes the values of a document that was counted."""


def _checked(kind: str) -> Callable[[Any, Any], Any]:
    """The constructor of a kind of scalar, whose every failure is an error of YAML with its line."""
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
        last = text.rstrip("\n").count("\n") + 1  # libyaml places what is missing at the end on a line of its own
        raise YamlUnreadable(f"expected YAML: {problem}", min(mark.line + 1, last) if mark else None) from error


def _count(text: str, bounds: Bounds) -> None:
    """Raises YamlUnreadable if the text exceeds its bounds, and YAMLError if it is not YAML."""
    total = 0
    within: list[tuple[str | None, int]] = []  # the lists and mappings open here: anchor, and `total` before it
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
