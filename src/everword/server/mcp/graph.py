"""The knowledge graph of MCP's reference memory server: its nine tools, with its names, arguments and results.

A client that used that server starts this one instead, and nothing else of it changes. An entity or a relation is a
document, so a call is one transaction whatever else runs. If the connection is for one user, the graph is theirs, and
what it holds is also said in their conversation `graph`, in sentences: contexts, searches and facts know it, and what
is deleted here is deleted there. Otherwise there is one graph for the space, as that server has one file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from everword.errors import NotFound
from everword.facts.rules.person_shift import first_person, statements_about
from everword.formats.memories import fold, is_user, observation_sentence, relation_sentence
from everword.log.append_and_read import new_id
from everword.memory.memory import SeenMemory
from everword.memory.operations.documents import DocumentsFace
from everword.model import Batch, Change, Document, Draft
from everword.server.mcp.results import flatten_schema, tool_errors
from everword.server.problems import validation_problem

GRAPH = "graph"  # the namespace of the documents, and the conversation in which a user's graph is said
GRAPH_URI = "memory://knowledge-graph"
AT_ONCE = 1_000  # entities, relations or names in one call
DELETED = {"entities": "Entities", "observations": "Observations", "relations": "Relations"}


# -- what goes in and comes out


class Entity(BaseModel):
    name: str = Field(description="The name of the entity")
    entityType: str = Field(description="The type of the entity")
    observations: list[str] = Field(description="An array of observation contents associated with the entity")


class Relation(BaseModel):
    from_: str = Field(alias="from", description="The name of the entity where the relation starts")
    to: str = Field(description="The name of the entity where the relation ends")
    relationType: str = Field(description="The type of the relation")


class NewObservations(BaseModel):
    entityName: str = Field(description="The name of the entity to add the observations to")
    contents: list[str] = Field(description="An array of observation contents to add")


class AddedObservations(BaseModel):
    entityName: str
    addedObservations: list[str]


class OldObservations(BaseModel):
    entityName: str = Field(description="The name of the entity containing the observations")
    observations: list[str] = Field(description="An array of observations to delete")


class Entities(ArgModelBase):
    entities: list[Entity] = Field(max_length=AT_ONCE)


class Relations(ArgModelBase):
    relations: list[Relation] = Field(max_length=AT_ONCE)


class OldRelations(ArgModelBase):
    relations: list[Relation] = Field(max_length=AT_ONCE, description="An array of relations to delete")


class Observations(ArgModelBase):
    observations: list[NewObservations] = Field(max_length=AT_ONCE)


class EntityNames(ArgModelBase):
    entityNames: list[str] = Field(max_length=AT_ONCE, description="An array of entity names to delete")


class Deletions(ArgModelBase):
    deletions: list[OldObservations] = Field(max_length=AT_ONCE)


class Query(ArgModelBase):
    query: str = Field(description="The search query to match against entity names, types, and observation content")


class NodeNames(ArgModelBase):
    names: list[str] = Field(max_length=AT_ONCE, description="An array of entity names to retrieve")


class Nothing(ArgModelBase):
    pass


class GraphOut(BaseModel):
    entities: list[Entity]
    relations: list[Relation]


class EntitiesOut(BaseModel):
    entities: list[Entity]


class RelationsOut(BaseModel):
    relations: list[Relation]


class ResultsOut(BaseModel):
    results: list[AddedObservations]


class GraphDeletion(BaseModel):
    success: bool
    message: str


# -- the graph


@dataclass(frozen=True, slots=True)
class SaidLine:
    """What the conversation `graph` says of one part of the graph: the id of the message, and its text."""

    id: str
    text: str


class Graph:
    """A graph while a call changes it: the documents there are, and what becomes of them."""

    def __init__(self, documents: Mapping[str, Document], user: str | None, ids: Iterable[str]) -> None:
        self._user = user
        self._ids = iter(ids)
        self.values = {key: dict(document.value) for key, document in documents.items()}
        self.changed: dict[str, dict[str, Any] | None] = {}
        self.said: list[SaidLine] = []
        self.unsaid: list[str] = []

    @property
    def changes(self) -> list[Change]:
        return [Change((GRAPH, *self._owner), key, value, self._user, ()) for key, value in self.changed.items()]

    @property
    def _owner(self) -> tuple[str, ...]:
        return () if self._user is None else (self._user,)

    def _of_kind(self, kind: str) -> list[dict[str, Any]]:
        values = [value for value in self.values.values() if value.get("kind") == kind]
        return sorted(values, key=lambda value: int(value["number"]))

    def say(self, text: str) -> str:
        line = SaidLine(next(self._ids), text)
        self.said.append(line)
        return line.id

    def keep(self, key: str, value: dict[str, Any]) -> None:
        value.setdefault("number", max((int(known["number"]) for known in self.values.values()), default=0) + 1)
        self.values[key] = value
        self.changed[key] = value

    def drop(self, key: str) -> None:
        self.changed[key] = None
        del self.values[key]

    def outline(self, names: set[str] | None = None) -> dict[str, Any]:
        """The graph as that server tells it, or the entities of these names and every relation of theirs."""
        entities = [value for value in self._of_kind("entity") if names is None or value["name"] in names]
        relations = [
            value
            for value in self._of_kind("relation")
            if names is None or value["from"] in names or value["to"] in names
        ]
        return {"entities": list(map(entity_out, entities)), "relations": list(map(relation_out, relations))}

    # -- the calls

    def create_entities(self, request: Entities) -> list[dict[str, Any]]:
        new_entities = []
        for entity in request.entities:
            key = key_of("entity", entity.name)
            if key not in self.values:
                value: dict[str, Any] = {"kind": "entity", "name": entity.name, "entityType": entity.entityType}
                value |= {"observations": [], "line": self.say(f"{entity.name} ({entity.entityType})")}
                self._observe(value, entity.observations)
                self.keep(key, value)
                new_entities.append(entity_out(value))
        return new_entities

    def create_relations(self, request: Relations) -> list[dict[str, Any]]:
        new_relations = []
        for relation in request.relations:
            ends = (relation.from_, relation.to, relation.relationType)
            key = key_of("relation", *ends)
            if key not in self.values:
                names = dict(zip(("from", "to", "relationType"), ends, strict=True))
                line = self.say(self._retell(relation_sentence(ends[0], ends[2], ends[1]), *ends[:2]))
                self.keep(key, {"kind": "relation", **names, "line": line})
                new_relations.append(relation_out(self.values[key]))
        return new_relations

    def add_observations(self, request: Observations) -> list[dict[str, Any]]:
        results = []
        for observation in request.observations:
            key = key_of("entity", observation.entityName)
            if key not in self.values:
                raise ToolError(f"Entity with name {observation.entityName} not found")
            new_texts = self._observe(self.values[key], observation.contents)
            self.keep(key, self.values[key])
            results.append({"entityName": observation.entityName, "addedObservations": new_texts})
        return results

    def _observe(self, entity: dict[str, Any], contents: Sequence[str]) -> list[str]:
        old_texts = texts_of(entity)
        new_texts = [content for content in dict.fromkeys(contents) if content not in old_texts]
        name = entity["name"]
        sentences = [observation_sentence(name, entity["entityType"], content) for content in new_texts]
        lines = [
            [content, self.say(self._retell(sentence, name))]
            for content, sentence in zip(new_texts, sentences, strict=True)
        ]
        entity["observations"] = [*entity["observations"], *lines]
        return new_texts

    def _retell(self, sentence: str, *names: str) -> str:
        """A sentence as the user would say it, if one of these entities is the user: what it says of them is then read
        as any words of theirs."""
        user = self._user
        if user is None or not any(is_user(name) or fold(name) == fold(user) for name in names):
            return sentence
        statements = statements_about(user, sentence)
        return " ".join(first_person(user, statement.replace("the user", user)) for statement in statements) or sentence

    def delete_entities(self, request: EntityNames) -> None:
        names = {*request.entityNames}
        for key, value in list(self.values.items()):
            if value.get("name") in names or value.get("from") in names or value.get("to") in names:
                self.unsaid += [value["line"], *(line for _, line in value.get("observations", ()))]
                self.drop(key)

    def delete_observations(self, request: Deletions) -> None:
        for deletion in request.deletions:
            key = key_of("entity", deletion.entityName)
            observations = self.values.get(key, {}).get("observations", ())
            old_lines = [line for content, line in observations if content in deletion.observations]
            if old_lines:
                self.unsaid += old_lines
                new_pairs = [[content, line] for content, line in observations if line not in old_lines]
                self.keep(key, {**self.values[key], "observations": new_pairs})

    def delete_relations(self, request: OldRelations) -> None:
        for relation in request.relations:
            key = key_of("relation", relation.from_, relation.to, relation.relationType)
            if key in self.values:
                self.unsaid.append(self.values[key]["line"])
                self.drop(key)

    def read_graph(self, _: Nothing) -> dict[str, Any]:
        return self.outline()

    def search_nodes(self, request: Query) -> dict[str, Any]:
        query = request.query.lower()
        entities = self._of_kind("entity")
        return self.outline(
            {
                entity["name"]
                for entity in entities
                if any(query in text.lower() for text in (entity["name"], entity["entityType"], *texts_of(entity)))
            }
        )

    def open_nodes(self, request: NodeNames) -> dict[str, Any]:
        return self.outline({*request.names})


def key_of(*names: str) -> str:
    """The key of a document: names may be longer than a key, or have any character."""
    return sha256(json.dumps(names).encode()).hexdigest()[:40]


def entity_out(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": value["name"], "entityType": value["entityType"], "observations": texts_of(value)}


def texts_of(entity: Mapping[str, Any]) -> list[str]:
    """An entity's observations, without the messages that say them."""
    return [content for content, _ in entity["observations"]]


def relation_out(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in ("from", "to", "relationType")}


# -- the tools


@dataclass(frozen=True, slots=True)
class GraphCall:
    """One of the tools: its texts, what goes in and comes out, and how a result is told."""

    name: str
    about: str
    arguments: type[ArgModelBase]
    result: type[BaseModel]
    hints: Literal["reads", "adds", "takes"]
    field: str = ""

    def tell(self, answer: Any) -> CallToolResult:
        if self.hints == "takes":
            message = f"{DELETED[self.field]} deleted successfully"
            return as_result(message, {"success": True, "message": message})
        text = json.dumps(answer, indent=2, ensure_ascii=False)
        return as_result(text, {self.field: answer} if self.field else answer)


CALLS = (
    GraphCall(
        "create_entities",
        "Create multiple new entities in the knowledge graph",
        Entities,
        EntitiesOut,
        "adds",
        "entities",
    ),
    GraphCall(
        "create_relations",
        "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
        Relations,
        RelationsOut,
        "adds",
        "relations",
    ),
    GraphCall(
        "add_observations",
        "Add new observations to existing entities in the knowledge graph",
        Observations,
        ResultsOut,
        "adds",
        "results",
    ),
    GraphCall(
        "delete_entities",
        "Delete multiple entities and their associated relations from the knowledge graph",
        EntityNames,
        GraphDeletion,
        "takes",
        "entities",
    ),
    GraphCall(
        "delete_observations",
        "Delete specific observations from entities in the knowledge graph",
        Deletions,
        GraphDeletion,
        "takes",
        "observations",
    ),
    GraphCall(
        "delete_relations",
        "Delete multiple relations from the knowledge graph",
        OldRelations,
        GraphDeletion,
        "takes",
        "relations",
    ),
    GraphCall("read_graph", "Read the entire knowledge graph", Nothing, GraphOut, "reads"),
    GraphCall("search_nodes", "Search for nodes in the knowledge graph based on a query", Query, GraphOut, "reads"),
    GraphCall("open_nodes", "Open specific nodes in the knowledge graph by their names", NodeNames, GraphOut, "reads"),
)


def as_result(text: str, values: Mapping[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(values))


async def perform(memory: SeenMemory, space: str, call: GraphCall, request: ArgModelBase) -> Any:
    """Do a call on the caller's graph; what it says or takes back follows in the conversation of that name."""
    user = memory.access.user
    documents: DocumentsFace = memory.documents(space=space)
    now = memory.runtime.parts.clock.now()
    namespace = (GRAPH,) if user is None else (GRAPH, user)

    def decide(rows: dict[str, Document]) -> tuple[Sequence[Change], tuple[Graph, Any]]:
        graph = Graph(rows, user, iter(lambda: new_id(now), ""))
        answer = getattr(graph, call.name)(request)
        return graph.changes, (graph, answer)

    if call.hints == "takes" and user is not None:
        memory.access.check_operation("delete_message")
    if call.hints == "reads":
        rows = await read_documents(documents, namespace)
        return decide(rows)[1][1]
    graph, answer = await documents.edit(namespace, decide)
    if user is not None:
        conversation = memory.conversation(GRAPH, user=user, space=space)
        if graph.said:
            drafts = [Draft("user", line.text, platform_id=line.id) for line in graph.said]
            await memory.add_many([Batch(space, GRAPH, user, drafts)])
        for id in graph.unsaid:
            try:
                await conversation.delete(id)
            except NotFound:
                continue  # the program ended before it was said
    return answer


async def read_documents(documents: DocumentsFace, namespace: tuple[str, ...]) -> dict[str, Document]:
    documents_page = await documents.search(namespace, limit=10_000)
    return {document.key: document for document in documents_page if document.namespace == namespace}


class GraphTool(Tool):
    """One of the tools, over the memory that its caller sees."""

    call: Any = Field(exclude=True)
    view: Any = Field(exclude=True)

    @classmethod
    def declare(cls, call: GraphCall, view: Any) -> GraphTool:
        return cls(
            fn=perform,
            name=call.name,
            title=call.name.replace("_", " ").title(),
            description=call.about,
            parameters=flatten_schema(call.arguments.model_json_schema()),
            fn_metadata=FuncMetadata(arg_model=call.arguments, output_model=call.result),
            is_async=True,
            context_kwarg=None,
            annotations=ToolAnnotations(
                read_only_hint=call.hints == "reads",
                destructive_hint=call.hints == "takes",
                idempotent_hint=call.hints != "adds",
                open_world_hint=False,
            ),
            call=call,
            view=view,
        )

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> CallToolResult:
        with tool_errors(self.name):
            try:
                request = self.call.arguments.model_validate(arguments)
            except ValidationError as error:
                raise ToolError(validation_problem(error.errors()).detail) from None
            memory, space = self.view.of_caller(context, "documents")
            result: CallToolResult = self.call.tell(await perform(memory, space, self.call, request))
            return result


def build_graph_tools(view: Any) -> list[Tool]:
    return [GraphTool.declare(call, view) for call in CALLS]


async def read_as_json(view: Any, context: Any) -> str:
    """The whole graph, for the resource of that name."""
    memory, space = view.of_caller(context, "documents")
    graph = await perform(memory, space, CALLS[6], Nothing())
    return json.dumps(graph, indent=2, ensure_ascii=False)
