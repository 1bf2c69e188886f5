"""Messages that a run takes from a queue by itself: where it receives them, and where it is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from idemlint.catalog import Catalog
from idemlint.catalog.consumer import ITERATIONS, Consumer
from idemlint.delivery import Handling
from idemlint.domain.effect import Effect, exclusive
from idemlint.domain.summary import Summary
from idemlint.domain.value import NOTHING, SETTLED, Origin, Value
from idemlint.program import Intake, LibraryInstance, LibraryType, ProjectCall
from idemlint.summarize.given import Given, arguments_of
from idemlint.summarize.sending import Sending
from idemlint.syntax import facts as f

MESSAGE = Value(frozenset({Origin("argument", "message")}))
"""What is received is the same at each delivery."""


class Messages(Sending):
    """The part of a walk that follows a consumer's messages."""

    def of_queue(self, path: str, receiver: Value | None, given: Given, expr: f.Call) -> Value | None:
        """What a call on a queue gives; None for any other call, and in tasks that a framework runs."""
        if self.intake is None:
            return None
        row = self.catalog.receives(path)
        if row is not None and not row.callback:
            return self.received(path, expr.at, receiver, given)
        if self.catalog.acknowledges(path):
            self.acknowledged(path, expr.at)
            return NOTHING
        return None

    def received(self, path: str, at: int, receiver: Value | None, given: Given | None = None) -> Value:
        """Messages come in: what was found out before is not about them."""
        holder = (("self", receiver),) if receiver is not None and receiver.made else ()
        self.facts = frozenset()
        self.record("receive", at, path=path, arguments=(*(arguments_of(given) if given is not None else ()), *holder))
        return MESSAGE

    def part_of_message(self, callee: Value, given: Given, expr: f.Call) -> Value | None:
        """What a method of a received message says, with an argument that is the same each time or none: part of the
        message (`message.offset()`); None for any other call."""
        receiver = callee.closure.receiver if callee.closure is not None else None
        if self.intake is None or receiver is None or receiver.origins != MESSAGE.origins:
            return None
        if not isinstance(expr.function, f.Attribute) or any(not value.stable for value in given.all()):
            return None
        return self.of_delivery(receiver, expr.function.name, expr.at) or Value(MESSAGE.origins)

    def received_from(self, iterable: f.Expr, first: int) -> str | None:
        """The path by which the turns of a loop over this receive; None if they do not. A generator, whose effects are
        those from `first`, hands on what it receives."""
        kind = self.type_of(iterable)
        target = self.here.body.targets.get(iterable.at)
        if isinstance(target, ProjectCall) and self.program.bodies[target.body].is_generator:
            return next((effect.path for effect in self.effects[first:] if effect.kind == "receive"), None)
        if self.intake is None or not isinstance(kind, LibraryInstance | LibraryType):
            return None
        paths = (f"{kind.path}.{turn}" for turn in ITERATIONS)
        return next((path for path in paths if self.catalog.receives(path) is not None), None)

    def acknowledged(self, path: str, at: int) -> None:
        """From here on no delivery of the message comes back."""
        self.record("acknowledge", at, path=path)
        self.learn(SETTLED)


# --- What a run has done with its messages ----------------------------------------------------------------------------


def settled(effects: Sequence[Effect], intake: Intake) -> tuple[tuple[Effect, ...], bool]:
    """The effects of a consumer's run as they stand to one message, and whether all that matters comes after its
    acknowledgement: then that settles nothing, there is no second delivery.

    A loop around the call that receives is no loop over items, nor is one that acknowledges each of them.
    """
    base = _base(effects, intake)
    if base is None:
        return tuple(effects), False
    done = {number for effect in effects if effect.kind == "acknowledge" for number in effect.loops}
    work = [effect for effect in effects if _acts(effect) and _inside(effect, effects, base)]
    early = bool(work) and all(SETTLED in effect.facts for effect in work)

    def placed(effect: Effect) -> Effect:
        if effect.kind in ("receive", "acknowledge") or not _inside(effect, effects, base):
            return effect
        loops = tuple(number for number in effect.loops[len(base) :] if number not in done)
        return replace(effect, loops=loops, facts=effect.facts - {SETTLED} if early else effect.facts)

    return tuple(placed(effect) for effect in effects), early


def handling(run: Summary, intake: Intake, catalog: Catalog) -> Handling:
    """How a run deals with one message."""
    base = _base(run.effects, intake) or ()
    acknowledging = [effect for effect in run.effects if effect.kind == "acknowledge"]
    # The last one is that of the way on which all goes well.
    last = next((each for each in reversed(acknowledging) if not each.in_handler), None)
    limited = _limited(run.effects, base)
    receivers = [dict(effect.arguments).get("self") for effect in run.effects if effect.kind == "receive"]
    made = next((value for value in receivers if value is not None), None)
    return Handling(
        acknowledged=_named(last, catalog) if last is not None else "",
        early=run.early,
        together=any(len(each.loops) > len(base) for each in acknowledging) or any(each.loops for each, _ in limited),
        takes=sum(seconds for _, seconds in limited),
        limit=(f"timeout={limited[0][1]:g}", limited[0][0].site) if limited else None,
        alone=made is not None and _alone(made, intake.row),
        commits=made is None or _commits(made, intake.row),
    )


def _named(acknowledging: Effect, catalog: Catalog) -> str:
    call = f"{acknowledging.path.rpartition('.')[2]}()"
    return f"the end of {call}" if catalog.acknowledges_at_end(acknowledging.path) else call


def _base(effects: Sequence[Effect], intake: Intake) -> tuple[int, ...] | None:
    """The loops around the call that receives, the last one where one hands on to another; None if there is none."""
    if not intake.polls:
        return ()
    return next((effect.loops for effect in reversed(effects) if effect.kind == "receive"), None)


def _inside(effect: Effect, effects: Sequence[Effect], base: tuple[int, ...]) -> bool:
    """Whether an effect is part of the work on a message."""
    first = next((each.id for each in effects if each.kind == "receive" and each.loops == base), -1)
    return effect.id > first and effect.loops[: len(base)] == base


def _acts(effect: Effect) -> bool:
    """Whether an effect is work, not a look at something."""
    if effect.in_handler:
        return False
    outside = effect.kind == "external" and effect.row is not None and effect.row.replay != "natural"
    return outside or effect.changes_data or effect.kind == "enqueue"


def _limited(effects: Sequence[Effect], base: tuple[int, ...]) -> list[tuple[Effect, float]]:
    """The calls for one message whose client gives up after some seconds, those of one way through the code."""
    found: list[tuple[Effect, float]] = []
    for effect in effects:
        seconds = _timeout(dict(effect.arguments).get("timeout")) if effect.kind == "external" else None
        if seconds is not None and not any(exclusive(effect.address, other.address) for other, _ in found):
            found.append((effect, seconds))
    return found


def _timeout(value: Value | None) -> float | None:
    """The seconds that a `timeout` argument gives: a number, or one for the connection and one for the answer."""
    if value is None:
        return None
    parts = value.items if value.items is not None else (value,)
    numbers = [part.literal[0] for part in parts if part.literal is not None]
    known = [float(each) for each in numbers if isinstance(each, int | float) and not isinstance(each, bool)]
    return sum(known) if known and len(known) == len(parts) else None


def _alone(made: Value, row: Consumer) -> bool:
    """Whether what is received from was made without the name of a group whose position is kept."""
    if not row.group or made.entries is None or made.partial:
        return False
    given = [made.entry(slot.argument) for slot in row.group]
    return all(value is None or value.literal == (None,) for value in given)


def _commits(made: Value, row: Consumer) -> bool:
    """Whether what is received from commits by itself."""
    for slot in row.commits:
        given = made.entry(slot.argument)
        if given is not None and slot.items:
            given = given.entry(".".join(slot.items))
        if given is not None and given.literal is not None and given.literal[0] in (False, "false"):
            return False
    return True
