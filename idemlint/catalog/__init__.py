"""What idemlint knows of the libraries and frameworks people use: one TOML file each, read into a frozen `Catalog`."""

from idemlint.catalog.errors import CatalogError
from idemlint.catalog.load import load
from idemlint.catalog.lookup import Catalog
from idemlint.catalog.names import Host
from idemlint.catalog.rows import (
    Arguments,
    Compose,
    Declare,
    DeclareClass,
    Effect,
    ExceptionRow,
    Framework,
    Guard,
    Http,
    Method,
    Send,
    Slot,
)

__all__ = [
    "Arguments",
    "Catalog",
    "CatalogError",
    "Compose",
    "Declare",
    "DeclareClass",
    "Effect",
    "ExceptionRow",
    "Framework",
    "Guard",
    "Host",
    "Http",
    "Method",
    "Send",
    "Slot",
    "load",
]
