"""Writes the TypeScript client, `clients/typescript/everword.ts`, from the server's OpenAPI description.

Run it after you have added or changed a route: `python scripts/typescript.py`. A test compares the file with what this
writes. What stands above the line "generated" in that file is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "clients" / "typescript" / "everword.ts"
MARK = "// -- generated\n"
LEFT_OUT = ("operations", "OpenAI")  # tags: for probes, and for the clients of others
NAMES = {"make_context": "context", "describe_conversation": "conversation"}
OTHER_FORMS = ("get_context",)  # what another operation does, too
COMMON = ("space", "Idempotency-Key", "X-Everword-Space", "if-none-match")  # parameters that the options have
LINES = "application/x-ndjson"
STREAM = "text/event-stream"
PARTS = {"conversations": "conversation", "users": "user", "spaces": "space", "moves": "move"}
"""What `{id}` is called after each part of a path."""
WIDTH = 118
CLASS = """/** A memory on a server. */
export class Everword {
  readonly #server: Connection;

  constructor(url: string, options: ClientOptions = {}) {
    this.#server = new Connection(url, options);
  }
"""


def client_text() -> str:
    """The client as it should be now."""
    from everword.library import AsyncMemory
    from everword.server.app import create_app

    description = create_app(AsyncMemory("never opened")).openapi()
    schemas = description["components"]["schemas"]
    methods = list(method_lines(description["paths"], schemas))
    reached = reachable_names(methods, schemas)
    types = [type_lines(name, schemas[name]) for name in sorted(reached)]
    head, _, _ = TARGET.read_text(encoding="utf-8").partition(MARK)
    body = "\n".join([*types, CLASS, *methods])
    return f"{head}{MARK}\n{body.rstrip()}\n}}\n"


# -- methods


def method_lines(paths: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    for path, operations in paths.items():
        for verb, operation in operations.items():
            name = operation["operationId"].partition("_v1_")[0]
            if operation["tags"][0] not in LEFT_OUT and name not in OTHER_FORMS:
                yield from method(camel_case(NAMES.get(name, name)), verb.upper(), path, operation, schemas)


def method(name: str, verb: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    answers = operation["responses"]["200"]["content"]
    names, parts = path_parts(path)
    query, query_is_needed = query_type(operation.get("parameters", ()))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    arguments = [f"{argument}: string" for argument in names]
    values = []
    if body is not None:
        is_needed = schemas.get(type_of(body), body).get("required")
        arguments.append(f"body: {type_of(body)}" + ("" if is_needed else " = {}"))
        values.append("body")
    if query:
        arguments.append(f"query: {query}" + ("" if query_is_needed else " = {}"))
        values.append("query")
    if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ())):
        values.append("repeatable: true")
    arguments.append("options: CallOptions = {}")
    call = f"{{ {', '.join(values)} }}" if values else "{}"
    yield from comment(operation["description"], "  ")
    if LINES in answers:
        head = f"  {name}({', '.join(arguments)}): AsyncGenerator<string, void, undefined> {{"
        yield f'{head}\n    return this.#server.lines("{verb}", [{parts}], {call}, options, "{LINES}");\n  }}\n'
        return
    answer = type_of(answers["application/json"]["schema"])
    head = f"  {name}({', '.join(arguments)}): Promise<{answer}> {{"
    if STREAM not in answers:
        yield f'{head}\n    return this.#server.ask("{verb}", [{parts}], {call}, options);\n  }}\n'
        return
    plain = [argument.replace("body: ReplyIn", 'body: Omit<ReplyIn, "stream">') for argument in arguments]
    yield f"  {name}({', '.join(plain)}): Promise<{answer}> {{"
    yield f'    return this.#server.ask("{verb}", [{parts}], {call}, options);\n  }}\n'
    yield from comment("The same, piece by piece: `for await (const piece of memory.stream(…))`.", "  ")
    yield f"  stream({', '.join(plain)}): AsyncGenerator<string, {answer}, undefined> {{"
    streamed = call.replace("body", "body: { ...body, stream: true }", 1)
    yield f"    return this.#server.pieces([{parts}], {streamed}, options);\n  }}\n"


def path_parts(path: str) -> tuple[list[str], str]:
    """The names of what a path holds, and its parts as they are written."""
    names: list[str] = []
    parts: list[str] = []
    before = ""
    for part in path.strip("/").split("/"):
        if part.startswith("{"):
            names.append(PARTS[before] if part == "{id}" else camel_case(part.strip("{}")))
            parts.append(names[-1])
        else:
            parts.append(json.dumps(part))
        before = part
    return names, ", ".join(parts)


def query_type(parameters: Any) -> tuple[str, bool]:
    """The type of what is asked for in the query, and whether any of it has to be there."""
    own = [parameter for parameter in parameters if parameter["in"] == "query" and parameter["name"] not in COMMON]
    fields = [f"{each['name']}{'' if each['required'] else '?'}: {type_of(each['schema'])}" for each in own]
    return f"{{ {'; '.join(fields)} }}" if fields else "", any(each["required"] for each in own)


# -- types


def type_of(schema: Mapping[str, Any]) -> str:
    """A JSON schema as a type."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(kind) for kind in schema["anyOf"]))
    if "prefixItems" in schema:
        return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
    kind = schema.get("type")
    if kind == "array":
        inner = type_of(schema["items"])
        return f"{inner}[]" if re.fullmatch(r"\w+", inner) else f"({inner})[]"
    if kind == "object":
        return object_type(schema)
    names = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
    return names.get(str(kind), "unknown")


def object_type(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        fields = [f"{name}: {type_of(field)}" for name, field in schema["properties"].items()]
        return f"{{ {'; '.join(fields)} }}"
    values = schema.get("additionalProperties", True)
    return f"Record<string, {type_of(values) if isinstance(values, dict) else 'unknown'}>"


def type_lines(name: str, schema: Mapping[str, Any]) -> str:
    lines = [*comment(schema.get("description", ""), "")]
    if "properties" not in schema:
        return "\n".join([*lines, f"export type {name} = {type_of(schema)};", ""])
    required = schema.get("required", ())
    lines.append(f"export interface {name} {{")
    for field, kind in schema["properties"].items():
        lines += comment(kind.get("description", ""), "  ")
        lines.append(f"  {field}{'' if field in required else '?'}: {type_of(kind)};")
    return "\n".join([*lines, "}", ""])


def reachable_names(methods: list[str], schemas: Mapping[str, Any]) -> set[str]:
    """The types that the methods speak of, and those that these are made of."""
    reached: set[str] = set()
    waiting = names_in("\n".join(line for line in methods if not line.lstrip().startswith(("/**", "*"))), schemas)
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= {inner for inner in names_in(json.dumps(schemas[name]), schemas, "/") if inner not in reached}
    return reached


def names_in(text: str, schemas: Mapping[str, Any], before: str = "") -> set[str]:
    return {name for name in re.findall(rf"{before}\b([A-Z]\w+)", text) if name in schemas}


def comment(text: str, indent: str) -> Iterator[str]:
    """The first paragraph of a text, and which rights it needs."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    needed = [paragraph for paragraph in paragraphs[1:] if paragraph.startswith("The API key needs the scope")]
    words = " ".join([paragraphs[0], *needed]).replace("*/", "*\\/")
    if not words:
        return
    if len(indent) + len(words) + 7 <= WIDTH:
        yield f"{indent}/** {words} */"
        return
    yield f"{indent}/**"
    line = ""
    for word in words.split():
        if line and len(indent) + len(line) + len(word) + 4 > WIDTH:
            yield f"{indent} * {line}"
            line = ""
        line = f"{line} {word}".lstrip()
    yield f"{indent} * {line}"
    yield f"{indent} */"


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


if __name__ == "__main__":
    TARGET.write_text(client_text(), encoding="utf-8")
    print("wrote", TARGET)
