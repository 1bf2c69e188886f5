"""Methods of collections and cursors, and where databases keep their collections."""

from __future__ import annotations

from dataclasses import dataclass

from idemlint.orm.arguments import argument, is_true, last_name, text
from idemlint.orm.mongo.words import (
    CLIENT,
    CLIENT_METHODS,
    COLLECTION,
    COLLECTION_CLASS,
    CURSOR,
    DATABASE,
    DATABASE_METHODS,
    LIBRARIES,
    NAME,
    PREFIX,
    UNNAMED,
    model_id,
)
from idemlint.orm.terms import Outcome, Resolve
from idemlint.program import (
    DataOperation,
    InstanceType,
    LibraryInstance,
    Model,
    RowsType,
    SeveralType,
    Site,
    Type,
    UniqueKey,
)
from idemlint.syntax import facts as f

Slot = tuple[int | None, str]
"""Where in a call something is given: at a position or by a name."""

PRIMARY = "_id"


@dataclass(frozen=True, slots=True)
class Shape:
    """A call on a collection. `verb` is as in `DataOperation`, `query` and `given` are where its documents stand,
    `upsert` where it says that a row is inserted if none is found. With `returning` it gives the row."""

    verb: str
    query: Slot | None = None
    given: Slot | None = None
    upsert: Slot | None = None
    many: bool = False
    returning: bool = False


_FILTER: Slot = (0, "filter")
_METHODS = {
    "insert_one": Shape("insert", given=(0, "document")),
    "insert_many": Shape("insert", given=(0, "documents"), many=True),
    "update_one": Shape("update", _FILTER, (1, "update"), (2, "upsert")),
    "update_many": Shape("update", _FILTER, (1, "update"), (2, "upsert"), many=True),
    "replace_one": Shape("update", _FILTER, (1, "replacement"), (2, "upsert")),
    "find_one_and_update": Shape("update", _FILTER, (1, "update"), (4, "upsert"), returning=True),
    "find_one_and_replace": Shape("update", _FILTER, (1, "replacement"), (4, "upsert"), returning=True),
    "find_one_and_delete": Shape("delete", _FILTER, returning=True),
    "delete_one": Shape("delete", _FILTER),
    "delete_many": Shape("delete", _FILTER, many=True),
    "find_one": Shape("first", _FILTER),
    "find": Shape("rows", _FILTER),
    "find_raw_batches": Shape("rows", _FILTER),
    "count_documents": Shape("read", _FILTER),
    "distinct": Shape("read", (1, "filter")),
    "bulk_write": Shape("batch", given=(0, "requests")),
    # Before version 4 of the driver.
    "insert": Shape("insert", given=(0, "doc_or_docs")),
    "update": Shape("update", (0, "spec"), (1, "document"), (2, "upsert")),
    "find_and_modify": Shape("update", (0, "query"), (1, "update"), (2, "upsert"), returning=True),
    "remove": Shape("delete", (0, "spec_or_id"), many=True),
    "count": Shape("read", _FILTER),
}
_READS = frozenset({"aggregate", "aggregate_raw_batches", "estimated_document_count"})
_EMPTIES = frozenset({"drop"})
_OTHER = frozenset(
    """codec_options create_index create_indexes create_search_index create_search_indexes database delegate
    drop_index drop_indexes drop_search_index ensure_index full_name get_io_loop index_information list_indexes
    list_search_indexes name next options read_concern read_preference rename save update_search_index watch
    with_options write_concern""".split()
)
_SAME = frozenset(
    """sort limit skip batch_size hint comment max_time_ms max_await_time_ms collation allow_disk_use add_option
    remove_option rewind clone where min max""".split()
)

_BATCHED = {
    "InsertOne": Shape("insert", given=(0, "document")),
    "UpdateOne": Shape("update", _FILTER, (1, "update"), (2, "upsert")),
    "UpdateMany": Shape("update", _FILTER, (1, "update"), (2, "upsert"), many=True),
    "ReplaceOne": Shape("update", _FILTER, (1, "replacement"), (2, "upsert")),
    "DeleteOne": Shape("delete", _FILTER),
    "DeleteMany": Shape("delete", _FILTER, many=True),
}


def batched(path: str) -> Shape | None:
    """The call that an instance of the library class at `path` stands for in a batch: `UpdateOne(filter, update)`."""
    head, _, word = path.rpartition(".")
    return _BATCHED.get(word) if head.partition(".")[0] == "pymongo" else None


def library_model(path: str) -> Model | None:
    """The collection with this name, as long as nothing is known of it but that `_id` is unique."""
    prefix, _, collection = path.partition(".")
    if prefix != PREFIX:
        return None
    title = collection if collection != UNNAMED else "document"
    key = UniqueKey((PRIMARY,), source="primary key")
    return Model(model_id(collection), title, NAME, Site("", 0, 0), (), (key,), seen=False, open=True)


def is_unnamed(model: Model) -> bool:
    """Whether a model stands for all collections whose name could not be told."""
    return model.name == model_id(UNNAMED)


def member(path: str, name: str | None) -> Type | None:
    """What `client.shop`, `client["shop"]`, `database.orders` and `database["orders"]` are; None as `name` is one that
    cannot be told."""
    if path == CLIENT and name not in CLIENT_METHODS:
        return LibraryInstance(DATABASE)
    if path == DATABASE and name not in DATABASE_METHODS:
        return RowsType(model_id(name or UNNAMED), stage=COLLECTION)
    return None


def shortcut(path: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """The collection that `database.get_collection("orders")` or `Collection(database, "orders")` gives."""
    if path not in (f"{DATABASE}.get_collection", f"{DATABASE}.create_collection", COLLECTION_CLASS):
        return None
    name = model_id(text(argument(call, 1 if path == COLLECTION_CLASS else 0, "name")) or UNNAMED)
    return DataOperation("narrow", name), RowsType(name, stage=COLLECTION)


def annotated_rows(path: str, item: Type | None) -> RowsType | None:
    """What a value annotated as a collection is: one whose name cannot be told."""
    head, _, word = path.rpartition(".")
    known = head.partition(".")[0] in LIBRARIES and word.endswith("Collection")
    return RowsType(model_id(UNNAMED), stage=COLLECTION) if known else None


def rows_attribute(rows: RowsType, model: Model, name: str) -> Type | None:
    """`database.audit.events`: a collection with a dotted name."""
    if rows.stage != COLLECTION or name in _METHODS or name in _READS | _OTHER | _EMPTIES or name.startswith("_"):
        return None
    if name == "database":
        return LibraryInstance(DATABASE)
    return RowsType(f"{model.name}.{name}", stage=COLLECTION)


def item(rows: RowsType) -> Type | None:
    """What a loop over a cursor gives: a document."""
    return InstanceType(rows.model)


def operation(
    receiver: Type, method: str, call: f.Call, model: Model, resolve: Resolve | None = None
) -> Outcome | None:
    """What `collection.method(...)` or `cursor.method(...)` does; None for a method that is none of these."""
    if not isinstance(receiver, RowsType):
        return None
    if receiver.stage == CURSOR:
        return _on_cursor(receiver, method, model)
    if method in _METHODS:
        return _called(_METHODS[method], call, model)
    if method in _READS:
        return DataOperation("read", model.name, opaque=True), SeveralType(None)
    if method in _EMPTIES:
        return DataOperation("delete", model.name), None
    if method == "save":
        return DataOperation("document", model.name, verb="save", objects=argument(call, 0, "to_save")), None
    if method == "with_options":
        return DataOperation("narrow", model.name), receiver
    return (DataOperation("new", model.name), None) if method in _OTHER else None


def _on_cursor(rows: RowsType, method: str, model: Model) -> Outcome | None:
    if method in _SAME:
        return DataOperation("narrow", model.name), rows
    if method == "to_list":
        return DataOperation("read", model.name), SeveralType(InstanceType(model.name))
    if method == "next":
        return DataOperation("first", model.name), InstanceType(model.name)
    return (DataOperation("read", model.name), None) if method in ("count", "distinct", "explain") else None


def _called(shape: Shape, call: f.Call, model: Model) -> Outcome:
    upsert = argument(call, *shape.upsert) if shape.upsert is not None else None
    after = argument(call, None, "return_document")
    done = DataOperation(
        "document",
        model.name,
        verb=shape.verb,
        statement=argument(call, *shape.query) if shape.query is not None else None,
        objects=argument(call, *shape.given) if shape.given is not None else None,
        form="upsert" if is_true(upsert) else "many" if shape.many else "",
        returning=shape.returning,
        force="after" if _after(after) or is_true(argument(call, None, "new")) else "",
    )
    gives: Type | None = None
    if shape.verb == "rows":
        gives = RowsType(model.name, stage=CURSOR)
    elif shape.returning or shape.verb == "first":
        gives = InstanceType(model.name)
    return done, gives


def _after(given: f.Expr | None) -> bool:
    """`ReturnDocument.AFTER`, or `True`."""
    return given is not None and (is_true(given) or last_name(given) == "AFTER")
