"""What is wrong with a SARIF log and no validator says: each check is one for which readers of such logs fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

_LINK = re.compile(r"(?<!\\)\[(?:[^\[\]\\]|\\.)*\]\((\d+)\)")
# GitHub's: longer texts and more tags are refused or cut.
_LONGEST_TEXT, _LONGEST_NAME, _MOST_TAGS, _MOST_RELATED, _MOST_STEPS = 1024, 255, 10, 10, 100


def faults(log: dict[str, Any], root: Path) -> list[str]:
    """The faults of a log whose paths start at `root`."""
    [run] = log["runs"]
    found = [*_rules(run), *_results(run), *_places(run, root)]
    if str(root) in repr(log):
        found.append("a path of this machine")
    return found


def _rules(run: dict[str, Any]) -> Iterator[str]:
    rules = run["tool"]["driver"]["rules"]
    if [rule["id"] for rule in rules] != sorted({rule["id"] for rule in rules}):
        yield "rules out of order or twice"
    for rule in rules:
        for key in ("shortDescription", "fullDescription"):
            if not 0 < len(rule[key]["text"]) <= _LONGEST_TEXT:
                yield f"{rule['id']}: length of {key}"
        if len(rule["name"]) > _LONGEST_NAME or not re.fullmatch(r"([A-Z][a-z]+)+", rule["name"]):
            yield f"{rule['id']}: name {rule['name']}"
        if len(rule["properties"]["tags"]) > _MOST_TAGS:
            yield f"{rule['id']}: too many tags"
        if not isinstance(rule["properties"].get("security-severity", ""), str):
            yield f"{rule['id']}: security-severity is no string"
        if not rule["help"]["markdown"].endswith(f"]({rule['helpUri']})"):
            yield f"{rule['id']}: help without a link to the page"


def _results(run: dict[str, Any]) -> Iterator[str]:
    results, rules = run["results"], run["tool"]["driver"]["rules"]
    told = [(_file(result), *_start(result), result["ruleId"]) for result in results]
    if [entry[:3] for entry in told] != sorted(entry[:3] for entry in told):
        yield "results out of order"
    if len({"suppressions" in result for result in results}) > 1:
        yield "suppressions in some results only"
    own = [result["partialFingerprints"]["idemlint/v1"] for result in results]
    if len(set(own)) != len(own):
        yield "the same fingerprint twice"
    for place, result in zip(told, results, strict=True):
        where = ":".join(map(str, place))
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            yield f"{where}: ruleIndex"
        if not result["message"]["text"].endswith("."):
            yield f"{where}: no period"
        if not re.fullmatch(
            r"[0-9a-f]{1,16}:[1-9]\d*", result["partialFingerprints"].get("primaryLocationLineHash", "")
        ):
            yield f"{where}: no line hash"
        ids = [related["id"] for related in result.get("relatedLocations", [])]
        if [int(id) for id in _LINK.findall(result["message"]["text"])] != ids or len(set(ids)) != len(ids):
            yield f"{where}: links and related locations differ"
        if len(ids) > _MOST_RELATED:
            yield f"{where}: too many related locations"
        for flow in result.get("codeFlows", []):
            [thread] = flow["threadFlows"]
            if len(result["codeFlows"]) > 1 or not 0 < len(thread["locations"]) <= _MOST_STEPS:
                yield f"{where}: more than one flow, or none"
            if any(not step["location"]["message"]["text"] for step in thread["locations"]):
                yield f"{where}: a step without words"
        for fix in result.get("fixes", []):
            replacements = [each for change in fix["artifactChanges"] for each in change["replacements"]]
            if not all("text" in replacement.get("insertedContent", {}) for replacement in replacements):
                yield f"{where}: a deletion without an empty text"


def _places(run: dict[str, Any], root: Path) -> Iterator[str]:
    uris = [artifact["location"]["uri"] for artifact in run["artifacts"]]
    for location in _objects(run, "artifactLocation"):
        uri = location["uri"]
        if quote(unquote(uri)) != uri or uri.startswith(("/", "../", "./")) or not (root / unquote(uri)).is_file():
            yield f"uri {uri}"
        if uris[location["index"]] != uri:
            yield f"index of {uri}"
    for physical in _objects(run, "physicalLocation"):
        file = root / unquote(physical["artifactLocation"]["uri"])
        if not file.is_file():
            continue
        text = file.read_bytes().decode("utf-8-sig")
        lines = re.split(r"\r\n|\r|\n", text)
        region = physical["region"]
        if region["startLine"] != region["endLine"]:
            yield f"{region}: more than one line"
        units = lines[region["startLine"] - 1].encode("utf-16-le")
        part = units[(region["startColumn"] - 1) * 2 : (region["endColumn"] - 1) * 2].decode("utf-16-le")
        if part != region["snippet"]["text"]:
            yield f"{region}: the columns hold {part!r}"


def _objects(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """Every object under `key`, however deep."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            yield from _objects(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, key)


def _file(result: dict[str, Any]) -> str:
    return unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def _start(result: dict[str, Any]) -> tuple[int, int]:
    region = result["locations"][0]["physicalLocation"]["region"]
    return region["startLine"], region["startColumn"]
