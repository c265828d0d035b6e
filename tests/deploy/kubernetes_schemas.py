"""Checks objects against the schemas of Kubernetes and of an operator's definitions: kubernetes_schemas.py CRDS FILE...

A field that a schema does not have is an error, as with `kubectl --validate=strict`.
"""

import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

VERSIONS = ("1.29", "1.37")
# A plain `=` is text, as in YAML 1.2 and in Go.
yaml.SafeLoader.add_constructor("tag:yaml.org,2002:value", yaml.SafeLoader.construct_yaml_str)

LARGEST = 1024 * 1024
"""Bytes of an object that the cluster stores."""


def definitions(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The schemas of the custom resources in a folder, by API version and kind."""
    found = {}
    for path in folder.glob("*.yaml"):
        spec = yaml.safe_load(path.read_text())["spec"]
        for version in spec["versions"]:
            found[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = version["schema"]["openAPIV3Schema"]
    return found


def strict(schema: Any) -> Any:
    """The same schema without unknown fields."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made.setdefault("additionalProperties", False)
    return made


def check(thing: dict[str, Any], crds: dict[tuple[str, str], dict[str, Any]]) -> int:
    """The number of schemas that it was checked against. Raises jsonschema.ValidationError."""
    assert len(yaml.safe_dump(thing)) < LARGEST, f"{thing['metadata']['name']} has more than {LARGEST} bytes"
    schema = crds.get((thing["apiVersion"], thing["kind"]))
    if schema:
        whole = strict(schema) | {"additionalProperties": True}  # apiVersion, kind and metadata are the cluster's own
        jsonschema.Draft202012Validator(whole).validate(thing)
        return 1
    for version in VERSIONS:
        kubernetes_validate.validate(thing, version, strict=True)
    return len(VERSIONS)


def main() -> None:
    """Check all objects of all files."""
    crds, checked = definitions(Path(sys.argv[1])), 0
    for path in sys.argv[2:]:
        for thing in yaml.safe_load_all(Path(path).read_text()):
            try:
                checked += check(thing, crds)
            except jsonschema.ValidationError as error:
                sys.exit(
                    f"{Path(path).name}: {thing['kind']} {thing['metadata']}: {error.message} at {list(error.path)}"
                )
    assert checked, "nothing was checked"
    print(f"{checked} checks of objects against schemas")


if __name__ == "__main__":
    main()
