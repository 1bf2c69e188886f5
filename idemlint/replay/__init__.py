"""The view that checks share: what a second run repeats, loses and overwrites, and why it runs."""

from idemlint.replay.finding import Finding, Mark
from idemlint.replay.outside import CALLED, LIFETIMES, SENT, one, same
from idemlint.replay.view import Replay

__all__ = ["CALLED", "LIFETIMES", "SENT", "Finding", "Mark", "Replay", "one", "same"]
