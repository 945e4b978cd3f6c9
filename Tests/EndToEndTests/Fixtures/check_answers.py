"""usage: check_answers.py OPENAPI ANSWERS

Compares answers of a server with its OpenAPI document. ANSWERS has an object of JSON on each line: method, path (from the base
path on, without the query), status, type (Content-Type, or ""), and body (the text of JSON; "" if there is none, or of other types).
Prints what does not conform, a line each; the successes that the document names and no answer is; and how many answers were
compared. Ends with exit code 1 if something does not conform. Fields that the document does not name are faults, too: a schema with
properties counts as closed.
"""

import json
import re
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

NAME = "urn:api"


def close(schema):
    """Has schemas with properties refuse others, unless they say what others are."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            schema.setdefault("additionalProperties", False)
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


class Document:
    def __init__(self, document):
        close(document["components"]["schemas"])
        close(document["paths"])
        self.document = document
        self.registry = Registry().with_resource(NAME, Resource(document, DRAFT202012))
        # Places without variable parts go first.
        self.places = sorted(document["paths"], key=lambda place: place.count("{"))
        self.seen = set()

    def place(self, path):
        for place in self.places:
            if re.fullmatch(re.sub(r"\\{[^/]*\\}", "[^/]+", re.escape(place)), path):
                return place
        return None

    def resolve(self, pointer):
        """A pointer and the value there, behind references."""
        value = self.document
        for part in pointer.split("/")[1:]:
            value = value[part.replace("~1", "/").replace("~0", "~")]
        return self.resolve(value["$ref"][1:]) if "$ref" in value else (pointer, value)

    def faults(self, answer):
        status = answer["status"]
        if status >= 500 and status not in (503, 507):
            yield "the server is at fault"
        place = self.place(answer["path"])
        if place is None:
            if status != 404:
                yield "the place is not documented"
            return
        item = self.document["paths"][place]
        method = answer["method"].lower()
        bodiless = method == "head"
        if method == "head" and "head" not in item:
            method = "get"
        if method not in item:
            if status != 405:
                yield "the method is not documented"
            return
        responses = item[method]["responses"]
        key = str(status) if str(status) in responses else "default"
        if key == "default" and status < 400:
            yield f"status {status} is not documented"
            return
        self.seen.add((method.upper(), place, key))
        escaped = place.replace("~", "~0").replace("/", "~1")
        pointer, response = self.resolve(f"/paths/{escaped}/{method}/responses/{key}")
        kind = answer["type"].split(";")[0].strip()
        content = response.get("content", {})
        if not content:
            if answer["body"]:
                yield f"status {status} has no documented content, and the answer is {kind or 'bytes'}"
            return
        known = kind if kind in content else "*/*" if "*/*" in content else None
        if known is None:
            if not (bodiless and not kind):
                yield f"Content-Type {kind!r} is not documented for status {status}"
            return
        if bodiless or not kind.endswith("json"):
            return
        try:
            body = json.loads(answer["body"])
        except ValueError:
            yield "the body is no JSON"
            return
        known = known.replace("/", "~1")
        schema = {"$ref": f"{NAME}#{pointer}/content/{known}/schema"}
        for error in Draft202012Validator(schema, registry=self.registry).iter_errors(body):
            yield f"{error.json_path}: {error.message[:300]}"
        if kind == "application/problem+json" and body.get("status") != status:
            yield f"the problem's status is {body.get('status')}"


def main(document, answers):
    with open(document, encoding="utf-8") as file:
        document = Document(json.load(file))
    count, faults = 0, 0
    with open(answers, encoding="utf-8") as lines:
        for line in lines:
            answer = json.loads(line)
            count += 1
            for fault in document.faults(answer):
                faults += 1
                print(f"{answer['method']} {answer['path']}: {answer['status']}: {fault}")
    for place, item in document.document["paths"].items():
        for method, operation in item.items():
            for key in operation["responses"]:
                if key.startswith("2") and (method.upper(), place, key) not in document.seen:
                    print(f"not tried: {method.upper()} {place}: {key}")
    print(f"{count} answers compared")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
