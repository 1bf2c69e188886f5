"""What is called by a name that is only a text: of a method, of a class in a setting, under a key of a dict."""

from __future__ import annotations

from pathlib import Path

import pytest
from linked import linked

HEAD = """\
import importlib
from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string
from promise import Promise


def mark(*args):
    return None


def other(*args):
    return None


KIND = "send"


class Channel:
    def send(self, text): raise NotImplementedError
    def close(self, text): raise NotImplementedError


class Mail(Channel):
    def send(self, text): mark(text)
    def close(self, text): other(text)
    def on_open(self, text): mark(text)
    def on_close(self, text): other(text)


class Sms(Channel):
    def send(self, text): mark(text)
    def close(self, text): other(text)


HANDLERS = {"sent": mark, "closed": other}
"""
FILES = {
    "manage.py": 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "config")\n',
    "config.py": 'CHANNEL = "shop.Mail"\nCHANNELS = ["shop.Mail", "shop.Sms"]\n',
}
OFFICE = """
class Office:
    channels: list["Channel"] = []

    def __all(self, name, *args, **kwargs):
        for channel in self.channels:
            self.__one(channel, name, *args, **kwargs)

    def __one(self, channel: "Channel", name, *args, **kwargs):
        method = getattr(channel, name, None)
        if method is None:
            return None
        return method(*args, **kwargs)

    def send(self, text):
        return self.__all("send", text)

    def close(self, text):
        return self.__all("close", text)


class Branch(Office):
    def __all(self, name, *args, **kwargs):
        other(name)


def get_office() -> Office:
    return Office()


def promised(key) -> Promise[Office]:
    return key.load("office")
"""


def reached(folder: Path, body: str, code: str = "") -> set[str]:
    """Which of the two marked functions a task with this body reaches, in a module that holds this code too."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    source = f"{HEAD}\n\n{code.strip()}\n\n\n@shared_task\ndef task(key):\n{lines}\n"
    return linked(folder, {**FILES, "shop.py": source}).reached() & {"shop:mark", "shop:other"}


@pytest.mark.parametrize(
    "body",
    [
        'name = "send"\ngetattr(Mail(), name)(key)',
        "getattr(Mail(), KIND)(key)",
        'for name in ("send", "on_open"):\n    getattr(Mail(), name)(key)',
        'getattr(Mail(), "send" if key else "on_open")(key)',
        'method = "send"\nif key:\n    method = "on_open"\ngetattr(Mail(), method)(key)',
        "import_string(settings.CHANNEL)().send(key)",
        'importlib.import_module("shop").mark(key)',
        "for path in settings.CHANNELS:\n    import_string(path)().send(key)",
        "[import_string(path)().send(key) for path in settings.CHANNELS]",
        'getattr(import_string("shop.Mail"), "send")(Mail(), key)',
        "SimpleLazyObject(lambda: Mail()).send(key)",
    ],
)
def test_a_text_names_what_is_called(tmp_path: Path, body: str) -> None:
    assert reached(tmp_path, body) == {"shop:mark"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("get_office().send(key)", "shop:mark"),
        ("get_office().close(key)", "shop:other"),
        ("promised(key).get().send(key)", "shop:mark"),
        ("SimpleLazyObject(get_office).send(key)", "shop:mark"),
        ("Branch().send(key)", "shop:mark"),
    ],
)
def test_a_text_is_followed_through_parameters_and_private_methods(tmp_path: Path, body: str, found: str) -> None:
    assert reached(tmp_path, body, OFFICE) == {found}


def test_a_method_that_is_handed_on_is_called_later(tmp_path: Path) -> None:
    code = f"""{OFFICE}

def later(function, *args):
    transaction.on_commit(lambda: function(*args))
"""
    assert reached(tmp_path, "later(get_office().close, key)", code) == {"shop:other"}


def test_a_function_that_calls_what_it_is_given_is_read_for_each(tmp_path: Path) -> None:
    """However many there are: what it is given is all that it does."""
    many = "\n\n".join(f"def empty_{number}(key):\n    return {number}" for number in range(20))
    code = f"{many}\n\n\ndef run(function, key):\n    function(key)"
    calls = "\n".join(f"run(empty_{number}, key)" for number in range(20))
    assert reached(tmp_path, f"{calls}\nrun(mark, key)", code) == {"shop:mark"}


def test_a_key_that_is_handed_down_tells_which_function_a_dict_holds(tmp_path: Path) -> None:
    code = """
def handle(kind, *args):
    dispatch(kind, *args)


def dispatch(*args):
    handle_one(*args)


def handle_one(kind, text):
    HANDLERS[kind](text)
"""
    assert reached(tmp_path, 'handle("closed", key)', code) == {"shop:other"}
    assert reached(tmp_path, "handle(key, key)", code) == {"shop:mark", "shop:other"}


def test_a_text_known_in_part_names_a_family_of_methods(tmp_path: Path) -> None:
    assert reached(tmp_path, 'getattr(Mail(), f"on_{key}")(key)') == {"shop:mark", "shop:other"}
    assert reached(tmp_path, 'getattr(Mail(), f"{key}")(key)') == set()


@pytest.mark.parametrize(
    "body",
    [
        "getattr(Mail(), key)(key)",
        'name = "send"\nname = name + key\ngetattr(Mail(), name)(key)',
        "name, text = key, key\ngetattr(Mail(), name)(key)",
        "import_string(settings.OTHER)().send(key)",
        'getattr(key, "send")(key)',
    ],
)
def test_a_text_that_cannot_be_told_names_nothing(tmp_path: Path, body: str) -> None:
    assert reached(tmp_path, body) == set()
