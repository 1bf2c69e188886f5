"""What is called where a class only announces a method: the one that the project writes for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from linked import linked

HEAD = """\
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Callable, Generic, Protocol, TypeVar
from celery import shared_task


def mark(*args):
    return None


"""
PORT = """
class Port(ABC):
    @abstractmethod
    def send(self, to): ...

    def close(self): pass
"""
ADAPTER = """
class Adapter(Port):
    def send(self, to):
        mark(to)
"""
USE = """
class Use:
    def __init__(self, port: Port):
        self.port = port

    def go(self):
        self.port.send(1)
"""


def reached(folder: Path, code: str, body: str, files: dict[str, str] | None = None) -> set[str]:
    """What a task with this body reaches, in a module that holds this code too."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    source = f"{HEAD}{code.strip()}\n\n\n@shared_task\ndef task(key):\n{lines}\n"
    return linked(folder, {"shop.py": source, **(files or {})}).reached()


@pytest.mark.parametrize(
    "port",
    [
        PORT,
        "class Port(Protocol):\n    def send(self, to): ...",
        "class Port(Protocol):\n    def send(self, to):\n        '''Sends it.'''",
        "class Port:\n    def send(self, to):\n        raise NotImplementedError",
        "class Port:\n    def send(self, to):\n        '''Sends it.'''\n        raise NotImplementedError('send')",
        "class Port:\n    send: Callable[..., None]",
        "class Root(ABC):\n    @abstractmethod\n    def send(self, to): ...\n\n\nclass Port(Root):\n    pass",
    ],
)
def test_an_interface_is_its_only_implementation(tmp_path: Path, port: str) -> None:
    assert "shop:mark" in reached(tmp_path, f"{port}\n{ADAPTER}\n{USE}", "Use(registry[0]).go()")


ANNOUNCED = """
from zope.interface import Interface, implementer


class IPort(Interface):
    def send(to):
        "Sends it."


@implementer(IPort)
class Adapter:
    def send(self, to):
        mark(to)
"""


@pytest.mark.parametrize(
    ("imported", "found"),
    [
        ("from pyramid.request import Request", "Request.blank('/').find_service(IPort)"),
        ("from pyramid.threadlocal import get_current_request", "get_current_request().find_service(iface=IPort)"),
        ("from zope.component import getUtility", "getUtility(IPort)"),
    ],
)
def test_what_is_found_by_an_interface_is_what_says_that_it_implements_it(
    tmp_path: Path, imported: str, found: str
) -> None:
    assert "shop:mark" in reached(tmp_path, f"{imported}\n{ANNOUNCED}", f"{found}.send(1)")


def test_a_class_found_by_itself_is_an_object_of_it(tmp_path: Path) -> None:
    code = "from punq import Container\n\n\nclass Sender:\n    def send(self, to):\n        mark(to)"
    assert "shop:mark" in reached(tmp_path, code, "Container().resolve(Sender).send(1)")


def test_a_class_that_implements_something_else_is_not_found(tmp_path: Path) -> None:
    other = "class IOther(Interface):\n    def send(to):\n        'Sends it.'"
    code = f"from zope.component import getUtility\n{ANNOUNCED}\n\n{other}"
    assert "shop:mark" not in reached(tmp_path, code, "getUtility(IOther).send(1)")


def test_an_implementation_is_found_in_another_module(tmp_path: Path) -> None:
    adapter = "from shop import Port\n\n\nclass Adapter(\n    Port,\n):\n    def send(self, to):\n        print(to)\n"
    found = reached(tmp_path, f"{PORT}\n{USE}", "Use(registry[0]).go()", {"adapters.py": adapter})
    assert "adapters:Adapter.send" in found


def test_a_class_between_them_is_no_implementation(tmp_path: Path) -> None:
    between = (
        "class Between(Port):\n    def other(self): ...\n\n\nclass Adapter(Between):\n    def send(self, to): mark(to)"
    )
    assert "shop:mark" in reached(tmp_path, f"{PORT}\n{between}\n{USE}", "Use(registry[0]).go()")


def test_the_method_of_an_interface_that_a_few_implement_is_one_of_theirs(tmp_path: Path) -> None:
    other = "class Other(Port):\n    def send(self, to): print(to)"
    found = reached(tmp_path, f"{PORT}\n{ADAPTER}\n{other}\n{USE}", "Use(registry[0]).go()")
    assert {"shop:Adapter.send", "shop:Other.send"} <= found


def test_the_method_of_an_interface_that_many_implement_is_of_none_of_them(tmp_path: Path) -> None:
    others = "\n".join(f"class Other{number}(Port):\n    def send(self, to): mark(to)" for number in range(6))
    assert "shop:mark" not in reached(tmp_path, f"{PORT}\n{ADAPTER}\n{others}\n{USE}", "Use(registry[0]).go()")


def test_a_test_double_is_no_implementation(tmp_path: Path) -> None:
    double = "from shop import Port\n\n\nclass Fake(Port):\n    def send(self, to): pass\n"
    files = {"tests/fakes.py": double}
    assert "shop:mark" in reached(tmp_path, f"{PORT}\n{ADAPTER}\n{USE}", "Use(registry[0]).go()", files)


def test_a_method_that_does_nothing_may_stand_as_it_is(tmp_path: Path) -> None:
    closing = "class Closing(Port):\n    def send(self, to): pass\n    def close(self): mark()"
    code = f"{PORT}\n{ADAPTER}\n{closing}\ndef go(port: Port): port.close()"
    assert "shop:mark" not in reached(tmp_path, code, "go(registry[0])")


def test_a_method_with_a_body_is_not_looked_for_below(tmp_path: Path) -> None:
    code = "class Port:\n    def send(self, to): print(to)\n\n\nclass Adapter(Port):\n    def send(self, to): mark(to)"
    assert "shop:mark" not in reached(tmp_path, f"{code}\n{USE}", "Use(registry[0]).go()")


def test_a_property_and_a_context_manager_of_an_interface(tmp_path: Path) -> None:
    code = """
class Unit(Protocol):
    def __enter__(self): ...
    def __exit__(self, *args): ...
    @property
    def port(self): ...

class Real(Unit):
    def __enter__(self): return self
    def __exit__(self, *args): mark()
    @property
    def port(self): return Sender()

class Sender:
    def send(self): pass

def go(unit: Unit):
    with unit:
        unit.port.send()
"""
    assert {"shop:mark", "shop:Sender.send"} <= reached(tmp_path, code, "go(registry[0])")


# --- What an instance was made with

CASES = """
T = TypeVar("T")

class Bound(Generic[T]):
    def __init__(self, case: "Case[T]", actor):
        self._case = case
        self._actor = actor

    def __call__(self, data):
        return self._case.run(self._actor, data)

class Case(ABC, Generic[T]):
    @property
    def system(self):
        return Bound(self, 1)

    def run(self, actor, data):
        return self.execute(actor, data)

    @abstractmethod
    def execute(self, actor, data): ...

class Print(Case[int]):
    def execute(self, actor, data):
        print(data)

class Pay(Case[int]):
    def __init__(self, after: Print):
        self.after = after

    def execute(self, actor, data):
        self.after.system(data)
        mark(data)
"""


def test_an_object_that_hands_itself_on_stays_what_it_is(tmp_path: Path) -> None:
    found = reached(tmp_path, f"{CASES}\ndef go(pay: Pay): pay.system(1)", "go(registry[0])")
    assert {"shop:mark", "shop:Pay.execute", "shop:Print.execute"} <= found


def test_what_one_instance_was_made_with_is_not_what_another_was(tmp_path: Path) -> None:
    found = reached(tmp_path, f"{CASES}\ndef go(case: Print): case.system(1)", "go(registry[0])")
    assert "shop:Print.execute" in found
    assert "shop:mark" not in found


@pytest.mark.parametrize(
    "runner",
    [
        "class Runner:\n    def __init__(self, job):\n        self.job = job\n    def go(self): self.job(1)",
        "class Runner:\n    def __init__(self, job: Callable):\n        self.job = job\n    def go(self): self.job(1)",
        "@dataclass(frozen=True)\nclass Runner:\n    job: Callable\n    def go(self): self.job(1)",
    ],
)
def test_a_function_that_an_instance_was_made_with_is_called(tmp_path: Path, runner: str) -> None:
    code = f"def other(x): print(x)\ndef job(x): mark(x)\n{runner}"
    found = reached(tmp_path, code, "Runner(other)\nRunner(job).go()")
    assert "shop:mark" in found
    assert "shop:other" not in found


# --- One of several


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("HANDLERS = {'a': first, 'b': second}", "HANDLERS[key](1)"),
        ("HANDLERS = {'a': first, 'b': second}", "HANDLERS.get(key)(1)"),
        ("HANDLERS = {'a': first}", "HANDLERS.get(key, second)(1)"),
        ("HANDLERS = {'a': first, 'b': second}", "handler = HANDLERS[key]\nhandler(1)"),
        ("HANDLERS = {1: first, 2: second}", "HANDLERS[key](1)"),
        ("HANDLERS = {'a': first, 'b': second}", "for handler in HANDLERS.values(): handler(1)"),
        ("HANDLERS = {'a': first, 'b': second}", "for name, handler in HANDLERS.items(): handler(1)"),
        ("HANDLERS = [first, second]", "for handler in HANDLERS: handler(1)"),
        ("", "for handler in (first, second): handler(1)"),
        ("def run(f): f(1)\nHANDLERS = {'a': first, 'b': second}", "run(HANDLERS[key])"),
        (
            "class A:\n    go = staticmethod(first)\nclass B:\n    def go(self, x): second(x)",
            "{1: A, 2: B}[key]().go(1)",
        ),
        (
            "class A:\n    def go(self, x): first(x)\nclass B:\n    def go(self, x): second(x)",
            "{1: A(), 2: B()}[key].go(1)",
        ),
    ],
)
def test_each_of_the_functions_of_a_table_may_be_called(tmp_path: Path, code: str, body: str) -> None:
    both = "def first(x): mark(x)\ndef second(x): print(x)"
    assert {"shop:first", "shop:second"} <= reached(tmp_path, f"{both}\n{code}", body)


def test_a_key_says_which_function_is_called(tmp_path: Path) -> None:
    code = "def first(x): mark(x)\ndef second(x): print(x)\nHANDLERS = {'a': first, 'b': second}"
    found = reached(tmp_path, code, "HANDLERS['a'](1)")
    assert "shop:first" in found
    assert "shop:second" not in found


def test_a_crowd_of_functions_is_followed_nowhere(tmp_path: Path) -> None:
    code = "\n".join(f"def f{number}(x): mark(x)" for number in range(40))
    table = "HANDLERS = {" + ", ".join(f"'{number}': f{number}" for number in range(40)) + "}"
    assert "shop:mark" not in reached(tmp_path, f"{code}\n{table}", "HANDLERS[key](1)")
