"""Reads YAML files into structs: an error names the file, the line, the key and what was expected.

Anybody may write a record, so size, depth and number of values are checked before anything is built, by libyaml if
PyYAML has it. Aliases are refused: with them, a few hundred bytes stand for gigabytes. Unlike in YAML 1.1, dates stay
text (`2024-02-30` is a label's value, not a fault) and numbers have at most 64 bits. Any other scalar that cannot be
read is an error with its line.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import yaml
from msgspec import inspect

from .durations import Duration, PointInTime
from .errors import ConfigError, excerpt
from .suggestion import did_you_mean, either

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

_T = TypeVar("_T")
_LONGEST = 300
"""Characters of the part of a message that msgspec wrote."""
_KINDS = {
    **{"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false"},
    **{"object": "keys with values", "array": "a list", "null": "nothing"},
}
"""Names of types in messages, by msgspec's names."""
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
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
    """Keys, values and lists."""
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


def read_yaml(path: Path, kind: type[_T], bounds: Bounds = CONFIGURATION) -> _T:
    """The content of a YAML file as a struct; an empty file is an empty mapping. Raises ConfigError only."""
    try:
        with path.open("rb") as file:
            data = file.read(bounds.size + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected UTF-8 text"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error
    if len(data) > bounds.size:
        raise ConfigError(f"{path}: expected at most {bounds.size} bytes")
    try:
        document = _load(text, bounds)
    except YamlUnreadable as error:
        line = f":{error.line}" if error.line else ""
        raise ConfigError(f"{path}{line}: {error}") from error
    content = {} if document.content is None else document.content
    try:
        return msgspec.convert(content, kind, dec_hook=_convert)
    except msgspec.ValidationError as error:
        raise ConfigError(_sentence(path, document.node, content, str(error), kind)) from error


def _load(text: str, bounds: Bounds) -> YamlDocument:
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
    values = depth = 0
    for event in yaml.parse(text, Loader=_SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else None
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise YamlUnreadable(f"expected no aliases, got *{event.anchor}: write out what it stands for", line)
        if values > bounds.values:
            raise YamlUnreadable(f"expected at most {bounds.values} keys and values", line)
        if depth > bounds.depth:
            raise YamlUnreadable(f"expected at most {bounds.depth} lists and mappings nested in each other", line)


def _convert(kind: type, value: Any) -> Any:
    if kind is Duration or kind is PointInTime:
        return kind.read(value)
    raise NotImplementedError(f"no conversion to {kind}")  # pragma: no cover


def _sentence(path: Path, node: yaml.Node | None, value: Any, fault: str, kind: type) -> str:
    """msgspec's message (`Expected ... - at `$.runs.keep``) with the file, the line and the value."""
    what, _, at = fault.rpartition(" - at `")
    what, at = (what, at.removesuffix("`")) if what else (fault, "")
    steps = [key or index for key, index in _STEP.findall(at)]
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL)
    if unknown:
        keys = _keys(inspect.type_info(kind), steps)
        what = f"no such key: expected {either(keys)}{did_you_mean(unknown[1], keys)}"
        steps.append(unknown[1])
    elif len(what) > _LONGEST:
        what = f"{what[:_LONGEST]}..."
    for step in steps:
        found: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            found = [entry for key, entry in node.value if key.value == step]
        elif isinstance(node, yaml.SequenceNode) and step.isdigit():
            found = node.value[int(step) :][:1]
        if not found:  # a value of a mapping: msgspec does not name its key
            break
        node = found[-1]
        value = value.get(step) if isinstance(value, dict) else value[int(step)]
    line = node.start_mark.line + 1 if node else 1
    what = re.sub(r"^Object missing required field `(.*)`", r"the key \1 is missing", what.partition(", got `")[0])
    what = re.sub(r"`([a-z| ]+)`", lambda found: either(_KINDS.get(one, one) for one in found[1].split(" | ")), what)
    got = "" if unknown or "got " in what else f", got {excerpt(value)}"
    where = ".".join(step if step.isprintable() and len(step) <= 60 else excerpt(step) for step in steps)
    where = where.replace("....", ", one of its values") or "the whole file"
    return f"{path}:{line}: {where}: {what[:1].lower()}{what[1:]}{got}"


def _keys(kind: inspect.Type, steps: Sequence[str]) -> list[str]:
    """The keys of the mapping at the end of a path."""
    if isinstance(kind, inspect.Metadata):
        return _keys(kind.type, steps)
    if isinstance(kind, inspect.UnionType):
        return next(filter(None, (_keys(one, steps) for one in kind.types)), [])
    if isinstance(kind, inspect.StructType):
        if not steps:
            return [field.encode_name for field in kind.fields]
        return next((_keys(field.type, steps[1:]) for field in kind.fields if field.encode_name == steps[0]), [])
    if isinstance(kind, inspect.DictType):
        return _keys(kind.value_type, steps[1:])
    return _keys(kind.item_type, steps[1:]) if isinstance(kind, inspect.CollectionType) else []
