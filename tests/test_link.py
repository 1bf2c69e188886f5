"""What a call reaches, whatever stands between the caller and the function."""

from __future__ import annotations

from pathlib import Path

import pytest
from linked import linked

HEAD = """\
import contextlib
import functools
from functools import partial
from typing import Annotated, Optional, Self, Union
import requests
from celery import shared_task, Celery
from django.db import models, transaction


def mark(*args, **kwargs):
    return None


"""


def reached(folder: Path, code: str, body: str) -> set[str]:
    """What a task with this body reaches, in a module that holds this code too."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    source = f"{HEAD}{code.strip()}\n\n\n@shared_task\ndef task(key):\n{lines}\n"
    return linked(folder, {"shop.py": source}).reached()


MARK = "shop:mark"

# --- Methods

CLIENT = """
class Base:
    def __init__(self, url="x"):
        self.url = url

    def send(self, to):
        self.prepare(to)

    def prepare(self, to):
        pass

    @classmethod
    def build(cls, url) -> "Base":
        return cls(url)

    @staticmethod
    def check(to):
        mark(to)


class Mailer(Base):
    def prepare(self, to):
        mark(to)
"""


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("", "Mailer().send(key)"),
        ("", "mailer = Mailer('x')\nmailer.send(key)"),
        ("", "Mailer.build('x').send(key)"),
        ("", "Mailer.check(key)"),
        ("", "Mailer().check(key)"),
        ("mailer = Mailer()", "mailer.send(key)"),
        ("mailer = Mailer.build('x')", "mailer.send(key)"),
        ("def get():\n    return Mailer()", "get().send(key)"),
        ("def get() -> Mailer:\n    return registry[0]", "get().send(key)"),
        ("def get() -> 'Mailer':\n    return registry[0]", "get().send(key)"),
        ("def get() -> Optional[Mailer]:\n    return registry[0]", "get().send(key)"),
        ("def get() -> Mailer | None:\n    return registry[0]", "get().send(key)"),
        ("def get() -> Union[None, Mailer]:\n    return registry[0]", "get().send(key)"),
        ("def run(mailer: Mailer, key):\n    mailer.send(key)", "run(registry[0], key)"),
        ("def run(mailer: 'Mailer | None', key):\n    mailer.send(key)", "run(registry[0], key)"),
        ("def run(mailer: Annotated[Mailer, 1], key):\n    mailer.send(key)", "run(registry[0], key)"),
        ("def run(mailer, key):\n    mailer.send(key)", "run(Mailer(), key)"),
        ("def run(*, mailer, key):\n    mailer.send(key)", "run(key=key, mailer=Mailer())"),
        ("def run(*mailers):\n    mailers[0].send(1)", "run(Mailer())"),
        ("def run(**given):\n    given['mailer'].send(1)", "run(mailer=Mailer())"),
        ("", "mailers = [Mailer(), Mailer()]\nfor mailer in mailers:\n    mailer.send(key)"),
        ("", "for mailer in (Mailer(),):\n    mailer.send(key)"),
        ("", "[mailer.send(key) for mailer in [Mailer()]]"),
        ("", "{'mail': Mailer()}['mail'].send(key)"),
        ("", "mailer, other = Mailer(), 1\nmailer.send(key)"),
        ("", "(mailer := Mailer()).send(key)"),
        ("", "mailer = Mailer() if key else None\nmailer.send(key)"),
        ("", "mailer = None\nif key:\n    mailer = Mailer()\nmailer.send(key)"),
        ("", "try:\n    mailer = Mailer()\nexcept ValueError:\n    mailer = None\nmailer.send(key)"),
        ("", "mailer = None or Mailer()\nmailer.send(key)"),
        ("", "mailer: Mailer = registry[0]\nmailer.send(key)"),
        ("", "mailer = registry[0]\nassert isinstance(mailer, Mailer)\nmailer.send(key)"),
        ("", "mailer = registry[0]\nif isinstance(mailer, Mailer):\n    mailer.send(key)"),
        ("", "getattr(Mailer(), 'send')(key)"),
        ("", "send = Mailer().send\nsend(key)"),
        ("", "await_ = Mailer().send(key)"),
        ("class Holder:\n    mailer = Mailer()", "Holder.mailer.send(key)"),
        ("class Holder:\n    mailer = Mailer()", "Holder().mailer.send(key)"),
        ("class Holder:\n    mailer: Mailer", "Holder().mailer.send(key)"),
        ("class Holder:\n    def __init__(self):\n        self.mailer = Mailer()", "Holder().mailer.send(key)"),
        (
            "class Holder:\n    def __init__(self, mailer: Mailer):\n        self.mailer = mailer",
            "Holder(registry[0]).mailer.send(key)",
        ),
        (
            "class Holder:\n    def __init__(self, mailer):\n        self.mailer: Mailer = mailer",
            "Holder(registry[0]).mailer.send(key)",
        ),
        (
            "class Holder:\n    mailer_class = Mailer\n    def go(self, to):\n        self.mailer_class().send(to)",
            "Holder().go(key)",
        ),
        ("class Holder:\n    @property\n    def mailer(self):\n        return Mailer()", "Holder().mailer.send(key)"),
        (
            "class Holder:\n    @functools.cached_property\n    def mailer(self):\n        return Mailer()",
            "Holder().mailer.send(key)",
        ),
        (
            "class Holder:\n    @property\n    def mailer(self) -> Mailer:\n        return registry[0]",
            "Holder().mailer.send(key)",
        ),
        ("@functools.lru_cache\ndef get():\n    return Mailer()", "get().send(key)"),
        ("@functools.cache\ndef get():\n    return Mailer()", "get().send(key)"),
        ("def get():\n    if x:\n        return None\n    return Mailer()", "get().send(key)"),
        ("def get():\n    yield Mailer()", "for mailer in get():\n    mailer.send(key)"),
        ("def get():\n    return 1, Mailer()", "_, mailer = get()\nmailer.send(key)"),
        ("def get():\n    def inner():\n        return Mailer()\n    return inner", "get()().send(key)"),
        ("type Post = Mailer\ndef run(mailer: Post): mailer.send(1)", "run(registry[0])"),
    ],
)
def test_a_method_is_found_on_what_the_object_is(tmp_path: Path, code: str, body: str) -> None:
    assert MARK in reached(tmp_path, f"{CLIENT}\n{code}", body)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("class A:\n    def f(self): self.g()\n    def g(self): mark()", "A().f()"),
        ("class A:\n    @classmethod\n    def f(cls): cls.g()\n    @classmethod\n    def g(cls): mark()", "A.f()"),
        ("class A:\n    @classmethod\n    def f(cls): cls().g()\n    def g(self): mark()", "A.f()"),
        ("class A:\n    def f(self): mark()\nclass B(A):\n    def f(self): super().f()", "B().f()"),
        ("class A:\n    def f(self): mark()\nclass B(A):\n    def f(self): super(B, self).f()", "B().f()"),
        ("class A:\n    def f(self): mark()\nclass B(A): pass\nclass C(B): pass", "C().f()"),
        ("class A:\n    def f(self): pass\nclass B:\n    def f(self): mark()\nclass C(B, A): pass", "C().f()"),
        ("class A:\n    def f(self): self.g()\nclass B(A):\n    def g(self): mark()", "B().f()"),
        (
            "class A:\n    def f(self): pass\nclass M:\n    def f(self): mark()\nclass B(A):\n"
            "    def f(self): super().f()\n"
            "class C(M, A): pass\nclass D(B, C): pass",
            "D().f()",
        ),
        (
            "class A:\n    @classmethod\n    def f(cls): mark()\nclass B(A):\n    @classmethod\n"
            "    def f(cls): super().f()",
            "B.f()",
        ),
        ("class A:\n    def __init__(self): mark()\nclass B(A): pass", "B()"),
        ("class A:\n    def __init__(self): mark()\nclass B(A):\n    def __init__(self): super().__init__()", "B()"),
        ("class A:\n    def __call__(self, x): mark(x)", "A()(key)"),
        ("class A:\n    def f(self) -> Self: return self\n    def g(self): mark()", "A().f().g()"),
        ("class A:\n    def f(self): return self\n    def g(self): mark()", "A().f().f().g()"),
        ("class A:\n    class B:\n        def f(self): mark()", "A.B().f()"),
        ("def make():\n    class A:\n        def f(self): mark()\n    return A()", "make().f()"),
        ("class A:\n    f = mark", "A.f()"),
        ("class A:\n    f = staticmethod(mark)", "A.f()"),
        ("class A:\n    def f(self): mark()\nA2 = A", "A2().f()"),
        ("class A:\n    async def f(self): mark()", "await_ = A().f()"),
        ("class A:\n    @functools.wraps(mark)\n    def f(self): mark()", "A().f()"),
    ],
)
def test_the_hierarchy_says_which_method_is_meant(tmp_path: Path, code: str, body: str) -> None:
    assert MARK in reached(tmp_path, code, body)


def test_an_override_hides_the_method_of_the_base(tmp_path: Path) -> None:
    code = "class A:\n    def f(self): mark()\nclass B(A):\n    def f(self): pass"
    assert MARK not in reached(tmp_path, code, "B().f()")


# --- Functions


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("def f(x): mark(x)", "f(key)"),
        ("def f(x): mark(x)", "partial(f, key)()"),
        ("def f(x, y): mark(x)", "g = partial(f, y=1)\ng(key)"),
        ("def f(x, y): mark(x)", "functools.partial(functools.partial(f, 1), 2)()"),
        ("def f(x): mark(x)\ng = partial(f, 1)", "g()"),
        ("", "(lambda x: mark(x))(key)"),
        ("", "f = lambda x: mark(x)\nf(key)"),
        ("f = lambda x: mark(x)", "f(key)"),
        ("", "def inner():\n    mark(key)\ninner()"),
        ("", "def outer():\n    def inner():\n        mark(key)\n    inner()\nouter()"),
        ("def apply(g, x): g(x)", "apply(mark, key)"),
        ("def apply(g, x): g(x)", "apply(lambda x: mark(x), key)"),
        ("def apply(g, x): g(x)", "apply(partial(mark, 1), key)"),
        ("def apply(g, x): g(x)", "def inner(x): mark(x)\napply(inner, key)"),
        ("def choose(x):\n    if x:\n        return mark\n    return mark", "choose(key)(key)"),
        ("HANDLERS = {'a': mark}", "HANDLERS['a'](key)"),
        ("STEPS = [mark]", "for step in STEPS:\n    step(key)"),
        ("async def f(x): mark(x)", "import asyncio\nasyncio.run(f(key))"),
        ("def f(x): mark(x)", "list(map(f, [key]))"),
        ("def f(x):\n    yield mark(x)", "for x in f(key): pass"),
        ("def f(x):\n    yield from g(x)\ndef g(x):\n    yield mark(x)", "for x in f(key): pass"),
        ("if 1:\n    def f(x): mark(x)\nelse:\n    def f(x): mark(x)", "f(key)"),
    ],
)
def test_a_function_is_reached_however_it_is_handed_on(tmp_path: Path, code: str, body: str) -> None:
    assert MARK in reached(tmp_path, code, body)


# --- Decorators

_INNER = "    def inner(*args, **kwargs):\n        return f(*args, **kwargs)\n    return inner"
WRAPPERS = {
    "wraps": f"def deco(f):\n    @functools.wraps(f)\n{_INNER}",
    "plain": f"def deco(f):\n{_INNER}",
    "given back": "def deco(f):\n    return f",
    "lambda": "def deco(f):\n    return lambda *args, **kwargs: f(*args, **kwargs)",
    "of options": "def options(n):\n    def outer(f):\n        def inner(*args, **kwargs):\n"
    "            return f(*args, **kwargs)\n        return inner\n    return outer\ndeco = options(1)",
    "optional": f"def deco(f=None):\n    if f is None:\n        return deco\n{_INNER}",
    "optional, called": f"def options(f=None, n=1):\n    if not f:\n        return partial(options, n=n)\n{_INNER}\n"
    "deco = options(n=2)",
    "optional, nested": "def deco(f=None, n=1):\n    def outer(f):\n        def inner(*args):\n"
    "            return f(*args)\n        return inner\n    if not f:\n        return outer\n    return outer(f)",
    "updated": "def deco(f):\n    def inner(*args):\n        return f(*args)\n"
    "    return functools.update_wrapper(inner, f)",
    "a class": "class deco:\n    def __init__(self, f):\n        self.f = f\n    def __call__(self, *args, **kwargs):\n"
    "        return self.f(*args, **kwargs)",
    "unknown": "from elsewhere import deco",
    "with a try": "def deco(f):\n    def inner(*a, **k):\n        try:\n            return f(*a, **k)\n"
    "        except ValueError:\n            return None\n    return inner",
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_decorated_function_is_looked_through(tmp_path: Path, wrapper: str) -> None:
    assert MARK in reached(tmp_path, f"{WRAPPERS[wrapper]}\n\n@deco\ndef f(x): mark(x)", "f(key)")


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_decorated_task_is_looked_through(tmp_path: Path, wrapper: str) -> None:
    source = f"{HEAD}{WRAPPERS[wrapper]}\n\n@shared_task\n@deco\ndef task(key): mark(key)\n"
    assert MARK in linked(tmp_path, {"shop.py": source}).reached()


def test_what_a_decorator_does_itself_is_reached_too(tmp_path: Path) -> None:
    code = "def deco(f):\n    def inner(*args):\n        mark()\n        return f(*args)\n"
    code += "    return inner\n\n@deco\ndef f(x): pass"
    assert MARK in reached(tmp_path, code, "f(key)")


# --- Context managers


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("@contextlib.contextmanager\ndef block():\n    mark()\n    yield", "with block(): pass"),
        ("@contextlib.contextmanager\ndef block():\n    yield\n    mark()", "with block(): pass"),
        ("@contextlib.contextmanager\ndef block():\n    yield partial(mark, 1)", "with block() as f:\n    f()"),
        ("class Block:\n    def __enter__(self): mark()\n    def __exit__(self, *e): pass", "with Block(): pass"),
        ("class Block:\n    def __enter__(self): pass\n    def __exit__(self, *e): mark()", "with Block(): pass"),
        (
            "class Block:\n    def __enter__(self): return self\n    def __exit__(self, *e): pass\n"
            "    def f(self): mark()",
            "with Block() as b:\n    b.f()",
        ),
        (
            "class A:\n    def f(self): mark()\nclass Block:\n    def __enter__(self): return A()\n"
            "    def __exit__(self, *e): pass",
            "with Block() as b:\n    b.f()",
        ),
        (
            "class Block:\n    @contextlib.contextmanager\n    def on(self):\n        mark()\n        yield",
            "with Block().on(): pass",
        ),
        (
            "@contextlib.contextmanager\ndef block():\n    with transaction.atomic():\n        yield",
            "with block():\n    mark()",
        ),
    ],
)
def test_a_context_manager_is_entered_and_left(tmp_path: Path, code: str, body: str) -> None:
    assert MARK in reached(tmp_path, code, body)


# --- Models

MODELS = """
class OrderQuery(models.QuerySet):
    def open(self):
        return self.filter(state="open")

    def touch(self):
        mark()
        return self


class OrderManager(models.Manager):
    def recent(self):
        mark()
        return self.filter(state="new")


class Order(models.Model):
    state = models.CharField(max_length=9)
    parent = models.ForeignKey("self", models.CASCADE, related_name="children")
    objects = OrderManager()
    queried = OrderQuery.as_manager()
    both = OrderManager.from_queryset(OrderQuery)()

    def close(self):
        mark()

    @property
    def total(self):
        return mark()

    def save(self, *args, **kwargs):
        mark()
        super().save(*args, **kwargs)


class Line(models.Model):
    order = models.ForeignKey(Order, models.CASCADE, related_name="lines")
    other = models.OneToOneField(Order, models.CASCADE)

    def ship(self):
        mark()
"""


@pytest.mark.parametrize(
    "body",
    [
        "Order.objects.recent()",
        "Order.queried.touch()",
        "Order.queried.open().touch()",
        "Order.queried.filter(pk=key).touch()",
        "Order.both.recent()",
        "Order.both.touch()",
        "Order.objects.get(pk=key).close()",
        "Order.objects.filter(pk=key).first().close()",
        "for order in Order.objects.filter(state='x'): order.close()",
        "[order.close() for order in Order.objects.all()]",
        "order, created = Order.objects.get_or_create(pk=key)\norder.close()",
        "Order.objects.create(state='x').close()",
        "Order(state='x').save()",
        "order = Order.objects.get(pk=key)\norder.save()",
        "Order.objects.get(pk=key).total",
        "Order.objects.get(pk=key).parent.close()",
        "Order.objects.get(pk=key).children.first().close()",
        "Order.objects.get(pk=key).lines.first().ship()",
        "for line in Order.objects.get(pk=key).lines.all(): line.ship()",
        "Order.objects.get(pk=key).lines.create().ship()",
        "Line.objects.get(pk=key).order.close()",
        "Line.objects.get(pk=key).order.total",
        "Order.objects.get(pk=key).line.ship()",
        "Order.objects.get(pk=key).children.recent()",
        "orders = list(Order.objects.all())\norders[0].close()",
        "Order.objects.select_related('parent').get(pk=key).parent.close()",
        "sorted(Order.objects.all())[0].close()",
        "next(iter(Order.objects.all())).close()",
        "max(Order.objects.all()).close()",
        "for index, order in enumerate(Order.objects.all()): order.close()",
        "for order, key in zip(Order.objects.all(), [key]): order.close()",
        "Order.objects.all()[0].close()",
        "for order in Order.objects.all()[:9]: order.close()",
        "Order.objects.all().iterator().__next__\nOrder.objects.latest('pk').close()",
        "for order in Order.objects.iterator(): order.close()",
        "from django.shortcuts import get_object_or_404\nget_object_or_404(Order, pk=key).close()",
    ],
)
def test_methods_of_rows_managers_and_querysets_are_reached(tmp_path: Path, body: str) -> None:
    assert MARK in reached(tmp_path, MODELS, body)


def test_a_manager_that_creates_a_row_saves_it(tmp_path: Path) -> None:
    assert MARK in reached(tmp_path, MODELS, "Order.objects.create(state='x')")


def test_a_receiver_of_the_models_signal_is_reached(tmp_path: Path) -> None:
    signal = "from django.db.models.signals import post_save\nfrom django.dispatch import receiver\n"
    saved = "@receiver(post_save, sender=Line)\ndef saved(sender, instance, **kwargs):\n    mark()"
    assert MARK in reached(tmp_path, f"{MODELS}\n{signal}\n{saved}", "Line.objects.create(order_id=key)")


def test_a_hook_is_reached_as_lambda_partial_and_function(tmp_path: Path) -> None:
    for hook in ("lambda: mark(key)", "partial(mark, key)", "mark"):
        folder = tmp_path / str(len(hook))
        assert MARK in reached(folder, "", f"transaction.on_commit({hook})")


# --- References by string


def test_a_task_sent_by_its_name_is_that_task(tmp_path: Path) -> None:
    source = f"{HEAD}app = Celery('x')\n\n@app.task(name='pay')\ndef pay(key): mark()\n\n"
    source += "@app.task\ndef task(key):\n    app.send_task('pay', (key,))\n"
    assert linked(tmp_path, {"shop.py": source}).called() == ["celery.Celery.send_task shop:pay"]


def test_a_job_named_by_its_path_is_that_function(tmp_path: Path) -> None:
    files = {
        "jobs.py": "def pay(key):\n    return key\n",
        "web.py": "from rq import Queue\nfrom redis import Redis\n\nqueue = Queue(connection=Redis())\n\n\n"
        "def view(key):\n    queue.enqueue('jobs.pay', key)\n",
    }
    program = linked(tmp_path, files).program
    assert [task.id for task in program.tasks.values()] == ["jobs:pay"]


# --- What is not followed


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("def f(x):\n    return f(x - 1)", "f(key)"),
        ("def f(x):\n    return g(x)\ndef g(x):\n    return f(x)", "f(key)"),
        ("class A:\n    def f(self): self.f()", "A().f()"),
        ("class A:\n    def f(self): return B().g()\nclass B:\n    def g(self): return A().f()", "A().f()"),
        ("def f(x):\n    return [f(y) for y in x]", "f(key)"),
    ],
)
def test_a_circle_of_calls_is_entered_once_and_counted_as_unresolved(tmp_path: Path, code: str, body: str) -> None:
    found = reached(tmp_path, code, body)
    assert any(name.startswith("? ") for name in found)


@pytest.mark.parametrize("body", ["key.send()", "registry[key]()", "globals()['f']()", "unknown(key)", "key()()"])
def test_what_nobody_can_know_is_unresolved(tmp_path: Path, body: str) -> None:
    assert any(name.startswith("? ") for name in reached(tmp_path, "", body))


@pytest.mark.parametrize(
    "body",
    ["len(key)", "key.split(',')", "', '.join(key)", "print(key)", "[].append(key)", "{}.get(key)", "str(key).strip()"],
)
def test_builtins_are_not_counted_as_unresolved(tmp_path: Path, body: str) -> None:
    assert not any(name.startswith("? ") for name in reached(tmp_path, "", body))


def test_a_function_called_with_many_kinds_of_arguments_is_linked_a_bounded_number_of_times(tmp_path: Path) -> None:
    classes = "\n".join(f"class C{n}:\n    def go(self): mark()" for n in range(40))
    calls = "\n".join(f"run(C{n}())" for n in range(40))
    source = f"{classes}\ndef run(x):\n    x.go()"
    body = "\n".join(f"    {line}" for line in calls.splitlines())
    program = linked(tmp_path, {"shop.py": f"{HEAD}{source}\n@shared_task\ndef task(key):\n{body}\n"}).program
    assert sum(each.function == "shop:run" for each in program.bodies.values()) < 20


def test_a_decorator_is_followed_for_each_of_many_functions(tmp_path: Path) -> None:
    functions = "\n".join(f"@deco\ndef f{n}(x): pass" for n in range(12))
    calls = "\n".join(f"f{n}(key)" for n in range(12))
    code = f"{WRAPPERS['plain']}\n{functions}\n@deco\ndef last(x): mark(x)"
    assert MARK in reached(tmp_path, code, f"{calls}\nlast(key)")


def test_a_method_of_a_base_class_is_followed_for_each_of_many_classes(tmp_path: Path) -> None:
    base = "class Base:\n    def go(self):\n        self.act()\n"
    classes = "\n".join(f"class C{n}(Base):\n    def act(self): pass" for n in range(12))
    calls = "\n".join(f"C{n}().go()" for n in range(12))
    code = f"{base}{classes}\nclass Last(Base):\n    def act(self): mark()"
    assert MARK in reached(tmp_path, code, f"{calls}\nLast().go()")
