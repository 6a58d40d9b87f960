"""Write build/sbom.json: what the packages are made of, a bill of materials in CycloneDX 1.5.

Crates come from the lock files, all of which are linked in, build what is, or test it; Python
packages are those that the package requires, in the versions that are installed.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("evaluator/Cargo.lock", "fabsim/Cargo.lock")
Component = dict[str, object]


def crates(text: str) -> list[Component]:
    """The crates of a lock file, with their digests; our own have no source and are left out."""
    packages = tomllib.loads(text).get("package", [])
    return [
        _component("cargo", p["name"], p["version"], p["checksum"])
        for p in packages
        if "source" in p
    ]


def required(name: str, seen: dict[str, Component]) -> None:
    """A package that is installed, and all that it requires without extras."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return  # for another Python or system
    for requirement in found.requires or []:
        other = re.match(r"[\w.-]+", requirement)
        if other and "extra ==" not in requirement and other[0].lower() not in seen:
            seen[other[0].lower()] = {}
            required(other[0], seen)
    seen[name.lower()] = _component("pypi", found.metadata["Name"], found.version, "")


def _component(kind: str, name: str, version: str, digest: str) -> Component:
    known: Component = {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:{kind}/{name}@{version}",
    }
    return known | ({"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {})


def bill() -> dict[str, object]:
    """The whole bill; the same for the same locks and packages."""
    packages: dict[str, Component] = {}
    required("collc", packages)
    own = packages.pop("collc", {})
    of_crates = [one for lock in LOCKS for one in crates((ROOT / lock).read_text(encoding="utf-8"))]
    by_place = {str(one["purl"]): one for one in [*of_crates, *filter(None, packages.values())]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": [by_place[place] for place in sorted(by_place)],
    }


def main() -> None:
    """Write the file."""
    place = ROOT / "build" / "sbom.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
    print(place.relative_to(ROOT))


if __name__ == "__main__":
    main()
