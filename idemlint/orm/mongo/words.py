"""The layer's own words, and how a collection is named in the program."""

from __future__ import annotations

NAME = "mongo"

LIBRARIES = frozenset({"pymongo", "motor", "flask_pymongo", "mongomock", "mongomock_motor", "beanie"})

CLIENT = "pymongo.MongoClient"
DATABASE = "pymongo.Database"
COLLECTION_CLASS = "pymongo.Collection"

# The stages of a `RowsType`: the collection itself, and a query of it.
COLLECTION, CURSOR = "collection", "cursor"

# Starts the id of a collection's model; no module can be called so.
PREFIX = "mongo collection"
UNNAMED = "?"
"""The name of a collection whose name cannot be told."""

# What databases and clients have beside their collections and databases.
CLIENT_METHODS = frozenset(
    """HOST PORT address admin_command aconnect append_metadata arbiters bulk_write close codec_options
    delegate drop_database fsync get_database get_default_database get_io_loop is_mongos is_primary list_database_names
    list_databases max_bson_size nodes options primary read_concern read_preference secondaries server_info
    start_session topology_description unlock watch write_concern""".split()
)
DATABASE_METHODS = frozenset(
    """aggregate client codec_options command create_collection cursor_command delegate dereference drop_collection
    get_collection get_io_loop list_collection_names list_collections name read_concern read_preference
    validate_collection watch with_options write_concern collection_names""".split()
)


def model_id(collection: str) -> str:
    """The id of the model that a collection is."""
    return f"{PREFIX}:{collection}"
