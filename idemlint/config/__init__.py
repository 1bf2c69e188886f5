"""What a run is told to do: configuration files and command line in, one frozen `Config` out."""

from idemlint.config.errors import ConfigError
from idemlint.config.files import load
from idemlint.config.layers import Layer
from idemlint.config.patterns import Pattern, rebased
from idemlint.config.selectors import Named, one
from idemlint.config.settings import Config, FailOn, Scope
from idemlint.config.table import choices, chosen

__all__ = [
    "Config",
    "ConfigError",
    "FailOn",
    "Layer",
    "Named",
    "Pattern",
    "Scope",
    "choices",
    "chosen",
    "load",
    "one",
    "rebased",
]
