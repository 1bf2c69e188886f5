"""Source text becomes plain values: what each kind of syntax says, and what holds of all facts."""

from __future__ import annotations

import pickle
import subprocess
import sys

import hypothesmith
import pytest
from bare_facts import bare, ordinals, read
from hypothesis import HealthCheck, given, settings

from idemlint.syntax import facts as f
from idemlint.syntax.extract import SyntaxProblem, extract, extract_expression

# One of each kind of syntax, up to Python 3.15.
SYNTAX = """
import a.b.c, d as e
from . import x
from ..a.b import (y as z, w,)
from m import *
lazy import a.b as c
lazy from a import b
type Alias[T: int = str, *Ts, **P] = dict[T, tuple[*Ts]]
x: int
x: list[int] = [1, 2.5, 3j, 1_000, 0xff, 0o17, 0b1]
a = b = c, *d = e
(a, [b, *c]), d.e, f[0] = g
x += 1; x @= y; x //= 2; x **= 3; x >>= 1; x <<= 1; x &= 1; x |= 1; x ^= 1; x %= 2; x -= 1; x *= 2; x /= 2
del a, (b, c[0]), d.e
assert a, "why"
pass
global g
x = not a and b or ~c if -d else +e
x = a < b <= c != d not in e is not f in g == h is i > j >= k
x = a + b - c * d / e // f % g ** h @ i << j >> k & l | m ^ n
x = "a" 'b' \"\"\"c\"\"\" r"\\d" u"e"
x = b"a" rb"b"
x = f"a{b}{c!r}{d:>{e}.{f}}{g=}{{h}}" "i" rf"{j}\\d"
x = f"{a["b"]}{f"{c["d"]}"}"
x = t"a{b!r:>{c}}"
x = a.b(c, *d, e=f, **g)(h)[i][j:k, ::l, *m].n
x = [*a, b], (c,), (), {*d, e}, {1: 2, **f, "g": h}
x = [a for b in c if d if e for f in g], {a for b in c}, {a: b for c in d}, (a for b in c)
x = [*a for b in c], {*a for b in c}, {**a for b in c}, (*a for b in c)
x = lambda a, /, b=1, *c, d, e=2, **f: (yield)
x = a[(b := 1)], ..., None, True, False
if (y := f(x)) > 1:
    pass
elif a:
    pass
else:
    pass
while a:
    break
else:
    pass
for x, *y in z:
    continue
else:
    pass
with a as b, (c) as (d, e), f():
    pass
with (a as b, c,):
    pass
try:
    a
except A:
    b
except (B, C) as e:
    raise D from e
except D, E:
    raise
except:
    pass
else:
    c
finally:
    d
try:
    a
except* A as e:
    b
except* B, C:
    c
match a, b:
    case 1 | "b" | None | -1 | C.D if e:
        pass
    case [x, *y, [_, z]] | (x, y, z):
        pass
    case {"k": v, "l": {"m": w}, **rest}:
        pass
    case Point(x=0, y=yy) | Circle(Point(), r) as whole:
        pass
    case other:
        pass
@a.b(c)
@d[0]
def f[T](a: int, /, b: "str" = 1, *c: *Ts, d, e: T = 2, **g) -> None:
    '''doc'''
    nonlocal h
    return a
def g():
    x = yield
    yield a
    yield from b
    return
async def h():
    async with a as b:
        await c
    async for d in e:
        yield d
    return [f async for f in g if await h]
@a
class C[T](A, B[T], metaclass=M):
    '''doc'''
    x: int = 1
    class Meta: pass
    async def f(self): pass
""".replace('\\"', '"').strip()

# Each statement by itself, so that one that is not known is seen by name.
STATEMENTS = [
    pytest.param(f"{statement.rstrip()}\n", id=statement.partition("\n")[0][:40])
    for statement in "\n".join(
        line if line.startswith((" ", "el", "ex", "fi", "@", "def f[", "class C[")) and index else f"\0{line}"
        for index, line in enumerate(SYNTAX.split("\n"))
    ).split("\0")[1:]
]


def value(text: str) -> object:
    """What one expression says."""
    (statement,) = extract(f"{text}\n")
    assert isinstance(statement, f.Evaluate)
    return bare(statement.value)


def statement(text: str) -> object:
    """What one statement says."""
    (only,) = extract(f"{text}\n")
    return bare(only)


# --- All facts


@pytest.mark.parametrize("text", STATEMENTS)
def test_every_syntax_has_facts_that_name_their_nodes(text: str) -> None:
    facts = extract(text)
    assert facts or text.startswith("pass")
    numbers = ordinals(facts)
    assert len(set(numbers)) == len(numbers), "two nodes have one number"
    # Three dots stand for what has no facts; these are the statements that really hold three dots.
    assert "'...'" not in read(text) or "..." in text


@pytest.mark.parametrize("text", STATEMENTS)
def test_the_same_text_gives_the_same_facts(text: str) -> None:
    assert extract(text) == extract(text)
    assert hash(extract(text)) == hash(extract(text))


@pytest.mark.parametrize("text", STATEMENTS)
def test_facts_print_as_what_makes_them(text: str) -> None:
    facts = extract(text)
    assert eval(repr(facts), vars(f)) == facts


def test_facts_survive_a_copy_of_their_bytes() -> None:
    facts = extract(SYNTAX)
    assert pickle.loads(pickle.dumps(facts)) == facts


def test_facts_come_back_from_another_process() -> None:
    program = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
    facts = extract(SYNTAX)
    back = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(facts), stdout=subprocess.PIPE, check=True
    ).stdout
    assert pickle.loads(back) == facts


def test_facts_do_not_change() -> None:
    (fact,) = extract("x = 1\n")
    with pytest.raises(AttributeError):
        fact.at = 2  # type: ignore[misc]


def test_the_walk_over_facts_meets_every_node() -> None:
    names = {
        part.id
        for part in f.walk(extract("def f(a=b):\n  with c: return [d for e in g if {h: i}]\n"))
        if isinstance(part, f.Name)
    }
    assert names == set("bcdeghi")


@given(hypothesmith.from_node())
@settings(deadline=None, max_examples=4, suppress_health_check=list(HealthCheck))
def test_any_program_has_facts(text: str) -> None:
    try:
        facts = extract(text)
    except SyntaxProblem:
        return
    numbers = ordinals(facts)
    assert len(set(numbers)) == len(numbers)
    assert pickle.loads(pickle.dumps(facts)) == facts or "nan" in repr(facts)


# --- Expressions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("'a' \"b\" '''c'''", "abc"),
        ("b'a' rb'\\d'", b"a\\d"),
        ("'\\N{BULLET}'", "•"),
        ("'\\d\\''", "\\d'"),
        ("b'\\x00\\d'", b"\0\\d"),
        ("r'\\n'", "\\n"),
        ("'''a\r\nb\rc'''", "a\nb\nc"),
        ("-1", -1),
        ("1_000", 1000),
        ("True", True),
        ("None", None),
        ("2j", 2j),
    ],
)
def test_a_literal_is_a_constant(text: str, said: object) -> None:
    assert value(text) == ("Constant", said)


def test_a_number_of_more_digits_than_the_interpreter_converts_is_one() -> None:
    assert value("1" * 5_000) == ("Constant", 0)


def test_a_formatted_string_is_its_parts() -> None:
    assert value("f'a{b}{{c}}'") == ("Format", (("Constant", "a"), ("Name", "b"), ("Constant", "{c}")))


def test_a_value_that_is_converted_or_padded_is_told_from_one_that_is_not() -> None:
    converted = ("Formatted", ("Name", "a"), ())
    assert value("f'{a!r}'") == ("Format", (converted,))
    padded = ("Formatted", ("Name", "a"), (("Constant", ">"), ("Name", "n")))
    assert value("f'{a:>{n}}'") == ("Format", (padded,))


def test_strings_in_strings_with_the_same_quotes_are_read() -> None:
    item = ("Subscript", ("Name", "a"), ("Constant", "b"))
    assert value('f"{a["b"]}"') == ("Format", (item,))


def test_a_template_string_is_read_as_a_formatted_one() -> None:
    assert value("t'a{b}'") == value("f'a{b}'")


def test_strings_side_by_side_are_one() -> None:
    assert value("'a' f'{b}' 'c'") == ("Format", (("Constant", "a"), ("Name", "b"), ("Constant", "c")))


def test_a_chain_of_and_is_one_test() -> None:
    assert value("a and b and c") == ("Boolean", "and", (("Name", "a"), ("Name", "b"), ("Name", "c")))


def test_a_comparison_keeps_its_operators_as_written() -> None:
    assert value("a is not b not in c") == (
        "Comparison",
        ("Name", "a"),
        ("is not", "not in"),
        (("Name", "b"), ("Name", "c")),
    )


def test_a_call_keeps_the_order_and_the_stars_of_its_arguments() -> None:
    given = (
        ("Argument", ("Name", "a"), None, ""),
        ("Argument", ("Name", "b"), None, "*"),
        ("Argument", ("Name", "c"), "k", ""),
    )
    assert value("f(a, *b, k=c, **d)") == ("Call", ("Name", "f"), (*given, ("Argument", ("Name", "d"), None, "**")))


def test_a_dict_that_is_spread_has_no_key() -> None:
    assert value("{1: a, **b}") == ("Mapping", ((("Constant", 1), ("Name", "a")), (None, ("Name", "b"))))


def test_a_star_in_a_subscript_is_kept() -> None:
    assert value("a[b, *c]") == (
        "Subscript",
        ("Name", "a"),
        ("Display", "tuple", (("Name", "b"), ("Starred", ("Name", "c")))),
    )


def test_a_comprehension_that_unpacks_is_read() -> None:
    generators = (("Generator", ("Name", "b"), ("Name", "c"), ()),)
    assert value("[*a for b in c]") == ("Comprehension", "list", ("Starred", ("Name", "a")), generators, None)
    assert value("{**a for b in c}") == ("Comprehension", "dict", ("Starred", ("Name", "a")), generators, None)


def test_a_walrus_binds_a_name() -> None:
    assert value("(a := b)") == ("Walrus", ("Name", "a"), ("Name", "b"))


def test_yield_in_a_lambda_makes_no_generator_of_the_function_around_it() -> None:
    (function,) = extract("def f():\n    return lambda: (yield)\n")
    assert isinstance(function, f.Function)
    assert not function.is_generator


# --- Statements


def test_imports_say_what_they_bind() -> None:
    assert [
        bare(each) for each in extract("import a.b\nimport a.b as c\nfrom ..d import e as g\nfrom . import h\n")
    ] == [
        ("Import", "a", None, "a", 0),
        ("Import", "a.b", None, "c", 0),
        ("Import", "d", "e", "g", 2),
        ("Import", "", "h", "h", 1),
    ]


def test_a_lazy_import_is_an_import() -> None:
    assert statement("lazy from a import b") == statement("from a import b")
    assert statement("lazy import a.b as c") == statement("import a.b as c")


def test_a_type_alias_binds_its_name() -> None:
    assert statement("type Orders[T] = list[T]") == statement("Orders = list[T]")


def test_a_match_says_what_it_compares_with_and_what_it_binds() -> None:
    text = "match a:\n  case 1 | C.D: b\n  case {'k': v, **rest} if g: c\n  case P(x=y) as w: d\n  case _: e\n"
    (match,) = extract(text)
    assert isinstance(match, f.Match)
    assert [(case.binds, case.irrefutable, len(case.values)) for case in match.cases] == [
        ((), False, 2),
        (("rest", "v"), False, 0),
        (("w", "y"), False, 0),
        ((), True, 0),
    ]


def test_exceptions_without_parentheses_are_several() -> None:
    assert statement("try: a\nexcept A, B: b") == statement("try: a\nexcept (A, B): b")


def test_an_exception_group_is_handled_as_an_exception() -> None:
    assert statement("try: a\nexcept* A: b") == statement("try: a\nexcept A: b")


def test_elif_is_an_if_in_the_else() -> None:
    assert statement("if a: b\nelif c: d\nelse: e") == statement("if a: b\nelse:\n    if c: d\n    else: e")


def test_a_function_keeps_the_kinds_of_its_parameters() -> None:
    (function,) = extract("def f(a, /, b: C = 1, *d, e, **g): pass\n")
    assert isinstance(function, f.Function)
    assert [(each.name, each.kind) for each in function.parameters] == [
        ("a", "positional"),
        ("b", "normal"),
        ("d", "*"),
        ("e", "keyword"),
        ("g", "**"),
    ]
    assert bare(function.parameters[1].annotation) == ("Name", "C")


def test_a_function_of_types_is_a_function() -> None:
    assert statement("def f[T: int, *Ts, **P](a: T) -> T: pass") == statement("def f(a: T) -> T: pass")
    assert statement("class C[T](B[T]): pass") == statement("class C(B[T]): pass")


def test_async_is_noted_and_changes_nothing_else() -> None:
    (function,) = extract("@d\nasync def f():\n    async with a as b: await c\n    async for x in y: pass\n")
    (plain,) = extract("@d\ndef f():\n    with a as b: await c\n    for x in y: pass\n")
    assert isinstance(function, f.Function)
    assert isinstance(plain, f.Function)
    assert function.is_async
    assert bare(function.body) == bare(plain.body)


@pytest.mark.parametrize("text", ["yield", "x = yield a", "yield from a", "for a in b:\n        yield a"])
def test_a_function_that_yields_is_a_generator(text: str) -> None:
    (function,) = extract(f"def f():\n    {text}\n")
    assert isinstance(function, f.Function)
    assert function.is_generator


def test_a_class_keeps_its_bases_and_keywords() -> None:
    (cls,) = extract("@d\nclass C(A, b.B, metaclass=M): x = 1\n")
    assert isinstance(cls, f.Class)
    assert bare((cls.bases, cls.keywords)) == (
        (("Name", "A"), ("Attribute", ("Name", "b"), "B")),
        (("metaclass", ("Name", "M")),),
    )


# --- What is no Python


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "x = (\n",
        "x = 'a\n",
        "  x\n",
        "\0",
        "print 'a'\n",
        "'a' b'b'\n",
        "x = ]\n",
        "if a:\nb\n",
        "\ufeff\ufeff",
    ],
)
def test_what_is_no_python_is_a_problem_with_a_place(text: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        extract(text)
    assert caught.value.line >= 1
    assert caught.value.column >= 0
    assert caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 1_000 + "1" + ")" * 1_000,
        "x = " + "[" * 50_000,
        "x = " + " + ".join(["a"] * 5_000),
        "x = " + " and ".join(["a"] * 50_000),
        "x = " + "not " * 20_000 + "a",
        "x = " + "-" * 20_000 + "a",
        "x = a" + ".b" * 20_000,
        "x = a" + "()" * 20_000,
        "x = " + "lambda: " * 20_000 + "1",
        "x = " + "**".join(["a"] * 20_000),
        "x = " + 'f"{' * 5_000,
        "if a:\n  pass\n" + "elif b:\n  pass\n" * 20_000,
    ],
    ids=lambda text: text[:14],
)
def test_code_too_deep_for_the_parser_is_a_problem_and_no_crash(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="nested too deeply"):
        extract(f"{text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 150 + "]" * 150,
        "x = " + " + ".join(["a"] * 400),
        "x = [" + "a.b(c) + 1, " * 300 + "]",
        "".join("    " * level + "if a:\n" for level in range(90)) + "    " * 90 + "b",
        "def f():\n" + "    a.b(c)[0] = d + e\n" * 1_000,
        "x = " + "'a' " * 1_000,
    ],
    ids=lambda text: text[:14],
)
def test_code_as_deep_as_people_write_it_is_read(text: str) -> None:
    assert extract(f"{text}\n")


@pytest.mark.parametrize("text", ["a b", "", "(", "x = 1", "a\nb", "[" * 5_000])
def test_a_string_that_is_no_expression_has_no_facts(text: str) -> None:
    assert extract_expression(text) is None


def test_an_expression_in_a_string_has_facts() -> None:
    assert bare(extract_expression(" list['Order'] ")) == ("Subscript", ("Name", "list"), ("Constant", "Order"))
