"""Reads YAML files into structs: an error names the file, the line, the key and what was expected.

Anybody may write a record, so size, depth and number of values are checked before anything is built, by libyaml if
PyYAML has it. Aliases are refused: with them, a few hundred bytes stand for gigabytes. Unlike in YAML 1.1, dates stay
text (`2024-02-30` is a label's value, not a fault) and numbers have at most 64 bits. Any other scalar that cannot be
read is an error with its line.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import yaml
from msgspec import inspect

from .durations import Duration, PointInTime
from .errors import ConfigError, excerpt
from .printable import printable
from .suggestion import did_you_mean, either

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

_T = TypeVar("_T")
_KINDS = {
    **{"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false"},
    **{"object": "keys with values", "array": "a list", "null": "nothing"},
}
"""Names of types in messages, by msgspec's names."""
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_TAG = "tag:yaml.org,2002:"
_LONGEST_NUMBER = 100
"""Characters: the time to read one grows with the square of its length."""
_LONGEST = 200
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


class _Beyond(yaml.MarkedYAMLError):
    """The text exceeds a bound."""


class _Loader(_SafeLoader):
    """Every scalar that cannot be read is an error of YAML with its line."""


def _scalar(loader: _SafeLoader, node: yaml.ScalarNode) -> Any:
    kind = node.tag.removeprefix(_TAG)
    fault = "number of more than 64 bits (put it in quotes to make it a text)"
    try:
        if kind not in ("int", "float") or len(node.value) <= _LONGEST_NUMBER:
            value = _SafeLoader.yaml_constructors[node.tag](loader, node)
            if kind != "int" or -(2**63) <= value < 2**63:
                return value
    except yaml.YAMLError:
        raise
    except Exception:  # ValueError of int(), KeyError of a bool, AttributeError of a date ...
        fault = f"{kind} that cannot be read"
    raise yaml.constructor.ConstructorError(None, None, f"{fault}: {node.value[:60]!r}", node.start_mark)


for _kind in ("bool", "int", "float", "binary", "timestamp"):
    _Loader.add_constructor(_TAG + _kind, _scalar)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != f"{_TAG}timestamp"]
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
        _check(text, bounds)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            content = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        last = text.rstrip("\n").count("\n") + 1  # libyaml reports a missing end on a line after the last one
        line = f":{min(mark.line + 1, last)}" if mark else ""
        problem = getattr(error, "problem", None) or " ".join(str(error).split())
        sentence = problem if isinstance(error, _Beyond) else f"expected YAML: {problem}"
        raise ConfigError(f"{path}{line}: {printable(sentence)[:_LONGEST]}") from error
    content = {} if content is None else content
    try:
        return msgspec.convert(content, kind, dec_hook=_convert)
    except msgspec.ValidationError as error:
        raise ConfigError(_sentence(path, node, content, str(error), kind)) from error


def _check(text: str, bounds: Bounds) -> None:
    """Raises YAMLError if the text exceeds its bounds or is not YAML."""
    values = depth = 0
    for event in yaml.parse(text, Loader=_SafeLoader):
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        fault = ""
        if isinstance(event, yaml.AliasEvent):
            fault = f"expected no aliases, got *{event.anchor}: write out what it stands for"
        elif values > bounds.values:
            fault = f"expected at most {bounds.values} keys and values"
        elif depth > bounds.depth:
            fault = f"expected at most {bounds.depth} lists and mappings nested in each other"
        if fault:
            raise _Beyond(None, None, fault, event.start_mark)  # type: ignore[arg-type]


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
