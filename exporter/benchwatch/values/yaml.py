"""Reads YAML files into structs: an error names the file, the line, the key and what was expected."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from msgspec import inspect

from . import bounded_yaml
from .bounded_yaml import CONFIGURATION, Bounds
from .durations import Duration, PointInTime
from .errors import ConfigError, excerpt
from .suggestion import did_you_mean, either

_T = TypeVar("_T")
_LONGEST = 300
"""Characters of the part of a message that msgspec wrote."""
_KINDS = {
    **{"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false"},
    **{"object": "keys with values", "array": "a list", "null": "nothing"},
}
"""Names of types in messages, by msgspec's names."""
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


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
        document = bounded_yaml.load(text, bounds)
    except bounded_yaml.YamlUnreadable as error:
        line = f":{error.line}" if error.line else ""
        raise ConfigError(f"{path}{line}: {error}") from error
    content = {} if document.content is None else document.content
    try:
        return msgspec.convert(content, kind, dec_hook=_convert)
    except msgspec.ValidationError as error:
        raise ConfigError(_sentence(path, document.node, content, str(error), kind)) from error


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
