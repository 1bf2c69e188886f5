"""Statements as text: what they say, what schemas say of tables, and what rules say of tasks that run them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linting import findings

from idemlint.orm import sql
from idemlint.orm.terms import Change
from idemlint.program import UniqueKey

# --- Statements ------------------------------------------------------------------------------------------------------


def command(text: str) -> sql.Command:
    """What a text with one statement does."""
    found = sql.commands(text)
    assert found is not None
    assert len(found) == 1
    return found[0]


def written(found: sql.Command) -> list[tuple[str, sql.Term, str]]:
    return [(each.column, each.term, each.itself) for each in found.values]


@pytest.mark.parametrize(
    ("text", "given", "style"),
    [
        ("INSERT INTO t (a, b) VALUES (%s, %s)", [0, 1], "%"),
        ("INSERT INTO t (a, b) VALUES (%(x)s, %(y)s)", ["x", "y"], "%"),
        ("INSERT INTO t (a, b) VALUES ($2, $1)", [1, 0], "$"),
        ("INSERT INTO t (a, b) VALUES (:x, :y)", ["x", "y"], ":"),
        ("INSERT INTO t (a, b) VALUES (?, ?)", [0, 1], "?"),
        ("INSERT INTO t (a, b) VALUES (?2, ?1)", [1, 0], "?"),
        ("INSERT INTO t (a, b) VALUES ($1::jsonb, $2::timestamptz)", [0, 1], "$"),
        ("insert into public.t(a,b) values (%s, cast(%s as text))", [0, 1], "%"),
        ('INSERT INTO "t" ("a", "b") VALUES (%s, %s)', [0, 1], "%"),
        ("INSERT INTO `t` (`a`, `b`) VALUES (%s, %s)", [0, 1], "%"),
    ],
)
def test_parameters_by_the_way_they_are_written(text: str, given: list[int | str], style: str) -> None:
    found = command(text)
    assert (found.verb, found.table, found.style) == ("insert", "t", style)
    terms = [term.parts[0] if isinstance(term, sql.Apply) else term for _, term, _ in written(found)]
    assert terms == [sql.Given(at) for at in given]


def test_what_a_program_puts_in_is_a_hole() -> None:
    found = command("UPDATE t SET n = {} WHERE id = {order_id} AND {}")
    assert written(found) == [("n", sql.Hole(), "")]
    assert found.lookup == sql.Lookup((("id", sql.Hole()),), False)


def test_clauses_that_a_program_puts_in_hide_nothing_else() -> None:
    found = command("SELECT id FROM t WHERE a = :a {more} ORDER BY b {limit}")
    assert found.lookup == sql.Lookup((("a", sql.Given("a")),), False)


def test_braces_in_quotes_are_text() -> None:
    assert written(command("UPDATE t SET data = '{}' WHERE id = 1")) == [("data", sql.Literal("{}"), "")]


@pytest.mark.parametrize(
    ("text", "conflict", "on", "opaque"),
    [
        ("INSERT INTO t (a) VALUES (%s)", "", (), False),
        ("INSERT INTO t (a) VALUES (%s) ON CONFLICT DO NOTHING", "ignore", (), False),
        ("INSERT INTO t (a) VALUES (%s) ON CONFLICT (a, b) DO NOTHING", "ignore", ("a", "b"), False),
        ("INSERT INTO t (a) VALUES (%s) ON CONFLICT (a) DO UPDATE SET b = EXCLUDED.b", "update", ("a",), False),
        ("INSERT INTO t (a) VALUES (%s) ON CONFLICT (lower(a)) DO NOTHING", "ignore", (), True),
        ("INSERT INTO t (a) VALUES (%s) ON CONFLICT ON CONSTRAINT uq DO NOTHING", "ignore", (), True),
        ("INSERT IGNORE INTO t (a) VALUES (%s)", "ignore", (), False),
        ("INSERT INTO t (a) VALUES (%s) ON DUPLICATE KEY UPDATE b = VALUES(b)", "update", (), False),
        ("INSERT OR IGNORE INTO t (a) VALUES (?)", "ignore", (), False),
        ("INSERT OR REPLACE INTO t (a) VALUES (?)", "update", (), False),
        ("REPLACE INTO t (a) VALUES (%s)", "update", (), False),
    ],
)
def test_what_an_insert_does_about_a_row_in_its_way(
    text: str, conflict: str, on: tuple[str, ...], opaque: bool
) -> None:
    found = command(text)
    assert (found.conflict, found.conflict_on, found.opaque) == (conflict, on, opaque)


@pytest.mark.parametrize(
    ("value", "itself"),
    [
        ("n + 1", "expression"),
        ("t.n - %s", "expression"),
        ("COALESCE(n, 0) + 1", "expression"),
        ("GREATEST(n - %s, 0)", "expression"),
        ("(n * 2)::int", "expression"),
        ("%s + n", "expression"),
        ("n || %s", "join"),
        ("CONCAT(n, %s)", "join"),
        ("array_append(n, %s)", "append"),
        ("n || ARRAY[%s]", "append"),
        ("n || '{\"a\": 1}'", ""),
        ("n || %s::jsonb", ""),
        ("jsonb_set(n, '{a}', %s)", ""),
        ("%s", ""),
        ("m + 1", ""),
        ("COALESCE(n, %s)", ""),
        ("GREATEST(n, %s)", ""),
        ("(SELECT sum(x) FROM u)", ""),
        ("CASE WHEN n > 1 THEN 2 ELSE n END", ""),
        ("n + u.x FROM u", "expression"),
        ("n + u.x FROM (SELECT sum(y) AS x FROM v) u", ""),
    ],
)
def test_how_a_value_hangs_on_the_old_one(value: str, itself: str) -> None:
    [(column, _, found)] = written(command(f"UPDATE t SET n = {value}"))
    assert (column, found) == ("n", itself)


@pytest.mark.parametrize(
    ("where", "conditions", "complete"),
    [
        ("a = %s", [("a", sql.Given(0))], True),
        ("t.a = %s AND b > 2", [("a", sql.Given(0)), ("b__gt", sql.Literal(2))], True),
        ("2 < b", [("b__gt", sql.Literal(2))], True),
        ("a IN (1, 2)", [("a__in", sql.Row((sql.Literal(1), sql.Literal(2))))], True),
        ("a = ANY(%s)", [("a", sql.Given(0))], True),
        ("a IS NULL AND b IS NOT NULL", [("a__isnull", sql.Literal(True)), ("b__isnull", sql.Literal(False))], True),
        ("a AND NOT b", [("a", sql.Literal(True)), ("b", sql.Literal(False))], True),
        ("a <> 'x'", [("a__ne", sql.Literal("x"))], True),
        ("(a, b) = (%s, %s)", [("a", sql.Given(0)), ("b", sql.Given(1))], True),
        ("a = 1 OR b = 2", [], False),
        ("a = b", [], False),
        ("f(a)", [], False),
    ],
)
def test_conditions(where: str, conditions: list[tuple[str, sql.Term]], complete: bool) -> None:
    assert command(f"DELETE FROM t WHERE {where}").lookup == sql.Lookup(tuple(conditions), complete)


def test_conditions_of_other_tables_are_left_out() -> None:
    found = command("SELECT o.id, u.email FROM orders o JOIN users u ON u.id = o.user_id WHERE o.a = 1 AND u.b = 2")
    assert (found.table, found.lookup.conditions) == ("orders", (("a", sql.Literal(1)),))
    assert found.parts == (sql.Part("id", "id"), sql.Part("email"))


@pytest.mark.parametrize(
    ("text", "parts", "one"),
    [
        ("SELECT a, b AS c FROM t", (sql.Part("a", "a"), sql.Part("c", "b")), False),
        ("SELECT * FROM t", None, False),
        ("SELECT 1 FROM t", (sql.Part(""),), False),
        ("SELECT count(*) FROM t", (sql.Part("count", tells="count"),), True),
        ("SELECT max(n) FROM t", (sql.Part("max", tells="whole"),), True),
        ("SELECT a, count(*) FROM t GROUP BY a", (sql.Part("a", "a"), sql.Part("count", tells="count")), False),
        ("SELECT EXISTS(SELECT 1 FROM t)", (sql.Part("exists", tells="exists"),), True),
        ("SELECT NOT EXISTS(SELECT 1 FROM t) AS free", (sql.Part("free", tells="absent"),), True),
        ("INSERT INTO t (a) VALUES (1) RETURNING id", (sql.Part("id", "id"),), False),
    ],
)
def test_what_comes_back(text: str, parts: tuple[sql.Part, ...] | None, one: bool) -> None:
    found = command(text)
    assert (found.table, found.parts, found.one) == ("t", parts, one)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM job WHERE status = 'new' FOR UPDATE",
        "SELECT id FROM job WHERE status = 'new' ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
        "UPDATE job SET status = 'on' WHERE id = (SELECT id FROM job WHERE status = 'new' LIMIT 1 FOR UPDATE)",
        "UPDATE job SET status = 'on' WHERE id IN (SELECT id FROM job WHERE status = 'new' FOR UPDATE SKIP LOCKED)",
        "WITH p AS (SELECT id FROM job WHERE status = 'new' FOR UPDATE) UPDATE job SET status = 'on' FROM p"
        " WHERE job.id = p.id",
    ],
)
def test_rows_that_are_picked_and_locked(text: str) -> None:
    found = command(text)
    assert (found.table, found.lookup.conditions, found.lookup.locks) == (
        "job",
        (("status", sql.Literal("new")),),
        True,
    )


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t (a) SELECT %s WHERE NOT EXISTS (SELECT 1 FROM t WHERE a = %s)",
        "INSERT INTO t (a) SELECT %s FROM dual WHERE NOT EXISTS (SELECT 1 FROM t WHERE a = %s)",
        "INSERT INTO t (a) SELECT u.a FROM u LEFT JOIN t x ON x.a = u.a WHERE x.id IS NULL",
        "INSERT INTO t (a) SELECT a FROM u WHERE a NOT IN (SELECT a FROM t)",
    ],
)
def test_rows_that_must_not_be_there(text: str) -> None:
    assert command(text).absent is not None


def test_statements_before_a_statement() -> None:
    found = sql.commands(
        "WITH new AS (INSERT INTO done (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id) "
        "UPDATE account SET balance = balance - $2 WHERE id = $3 AND EXISTS (SELECT 1 FROM new)"
    )
    assert found is not None
    assert [(each.verb, each.table, each.follows) for each in found] == [
        ("insert", "done", ()),
        ("update", "account", (0,)),
    ]
    moved = sql.commands("WITH moved AS (DELETE FROM job WHERE id = 1 RETURNING id) SELECT id FROM moved")
    assert moved is not None
    assert [(each.verb, each.table, each.gives) for each in moved] == [("delete", "job", True)]


def test_several_statements_and_transactions() -> None:
    found = sql.commands("BEGIN; -- ; not here\nDELETE FROM t; SELECT ';'; COMMIT")
    assert found is not None
    assert [(each.verb, each.table) for each in found] == [
        ("begin", ""),
        ("delete", "t"),
        ("select", ""),
        ("commit", ""),
    ]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("SELECT pg_advisory_xact_lock(%s)", "transaction"),
        ("SELECT pg_try_advisory_lock(hashtext(%s))", "session"),
        ("SELECT GET_LOCK('a', 10)", "session"),
        ("LOCK TABLE t IN EXCLUSIVE MODE", "transaction"),
    ],
)
def test_locks_that_hang_on_no_row(text: str, scope: str) -> None:
    assert (command(text).verb, command(text).scope) == ("mutex", scope)


@pytest.mark.parametrize(
    "text", ["", "no statement", "INSERT INTO INTO t ((", "MERGE INTO t USING u ON 1", "SELECT FROM"]
)
def test_what_cannot_be_read(text: str) -> None:
    assert not sql.commands(text)


@pytest.mark.parametrize("text", ["SET x = 1", "VACUUM t", "CREATE TABLE t (id int)", "SAVEPOINT a", "ROLLBACK TO a"])
def test_what_nobody_follows(text: str) -> None:
    assert sql.commands(text) == ()


WORDS = """
    SELECT INSERT INTO UPDATE DELETE FROM WHERE SET VALUES ON CONFLICT DO NOTHING RETURNING WITH AS ( ) , ; = <> *
    + || %s $1 :a ? {} 'x' "q" t u id n NULL AND OR NOT EXISTS IN FOR SKIP LOCKED LIMIT JOIN LEFT USING CASE WHEN
    THEN ELSE END count(*) max(n) now() :: -- /* */ ` $$ CREATE TABLE UNIQUE INDEX PRIMARY KEY ALTER ADD
    CONSTRAINT DEFAULT [ ] . MERGE REPLACE TRUNCATE BEGIN COMMIT IS BETWEEN LIKE ANY
""".split()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join))
def test_any_text_is_taken(text: str) -> None:
    sql.commands(text)
    list(sql.changes(text))
    list(sql.named(text))
    sql.is_sql(text)


# --- Schemas ---------------------------------------------------------------------------------------------------------


def keys(text: str) -> list[UniqueKey]:
    return [key for change in sql.changes(text) for key in change.unique]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("CREATE TABLE t (id int PRIMARY KEY)", ("id",)),
        ("CREATE TABLE t (a int, b text, UNIQUE (a, b))", ("a", "b")),
        ("CREATE TABLE IF NOT EXISTS public.t (a int, CONSTRAINT x PRIMARY KEY (a))", ("a",)),
        ("CREATE TABLE `t` (`a` varchar(20), UNIQUE KEY `x` (`a`(10))) ENGINE=InnoDB", ("a",)),
        ("CREATE TABLE t (key varchar(40) NOT NULL UNIQUE)", ("key",)),
        ("CREATE TABLE t (a int, r int4range, EXCLUDE USING gist (a WITH =, r WITH &&))", ("a", "r")),
        ("CREATE UNIQUE INDEX x ON t (a, b DESC)", ("a", "b")),
        ("create unique index concurrently if not exists x on only public.t using btree (lower(a))", ("a",)),
        ("ALTER TABLE ONLY t ADD CONSTRAINT x UNIQUE (a, b)", ("a", "b")),
        ("ALTER TABLE t ADD COLUMN a int UNIQUE", ("a",)),
        ("ALTER TABLE t ADD UNIQUE INDEX x (a)", ("a",)),
    ],
)
def test_unique_keys(text: str, columns: tuple[str, ...]) -> None:
    assert [key.columns for key in keys(text)] == [columns]
    assert {change.table for change in sql.changes(text)} == {"t"}


def test_partial_keys_and_nulls() -> None:
    [partial] = keys("CREATE UNIQUE INDEX x ON t (a) WHERE deleted_at IS NULL AND status = 'new'")
    assert partial.condition == ("deleted_at", "status")
    [own] = keys("CREATE UNIQUE INDEX x ON t (a) WHERE a IS NOT NULL")
    assert own.condition == ()
    [equal] = keys("CREATE UNIQUE INDEX x ON t (a) NULLS NOT DISTINCT")
    assert not equal.nulls_distinct


def test_columns() -> None:
    [made] = sql.changes(
        """CREATE TABLE t (
            id bigserial PRIMARY KEY, order_id bigint NOT NULL, name varchar(20) NOT NULL DEFAULT 'x',
            total numeric(10, 2),
            at timestamptz DEFAULT now(), tags text[], data jsonb, done boolean, owner uuid REFERENCES users (id),
            CHECK (total > 0), FOREIGN KEY (order_id) REFERENCES orders (id), KEY by_name (name)
        )"""
    )
    assert made.whole
    assert not made.hidden
    assert [(field.name, field.kind, field.null, field.default) for field in made.fields] == [
        ("id", "id", False, "unstable"),
        ("order_id", "relation", False, None),
        ("name", "text", False, "constant"),
        ("total", "number", True, None),
        ("at", "time", True, "unstable"),
        ("tags", "json", True, None),
        ("data", "json", True, None),
        ("done", "flag", True, None),
        ("owner", "relation", True, None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (LIKE u INCLUDING ALL)",
        "CREATE TABLE t (a int, {})",
        "CREATE TABLE t AS SELECT * FROM u",
        "CREATE UNIQUE INDEX x ON t ((a + b))",
        "ALTER TABLE t ADD CONSTRAINT x UNIQUE USING INDEX y",
    ],
)
def test_what_hides_something(text: str) -> None:
    assert any(change.hidden for change in sql.changes(text))


@pytest.mark.parametrize(
    "text", ["CREATE TEMP TABLE t (a int)", "CREATE INDEX x ON t (a)", "DROP TABLE t", "CREATE TABLE {} (a int)"]
)
def test_what_says_nothing(text: str) -> None:
    assert list(sql.changes(text)) == []


def test_data_in_a_dump_are_no_statements() -> None:
    dump = "COPY public.t (a) FROM stdin;\nit's (\n\\.\n\nALTER TABLE ONLY public.t ADD CONSTRAINT x UNIQUE (a);\n"
    assert list(sql.changes(dump)) == [Change("t", unique=(UniqueKey(("a",), source="UNIQUE"),))]


# --- Whole projects --------------------------------------------------------------------------------------------------

HEAD = '''\
import asyncpg, psycopg, psycopg2, pymysql, requests, sqlite3, stripe, uuid
from celery import shared_task
from django.core.mail import send_mail
from django.db import connection, transaction
from sqlalchemy import create_engine, text

SCHEMA = """
CREATE TABLE invoice (id bigserial PRIMARY KEY, team_id bigint NOT NULL, period text NOT NULL, amount numeric);
CREATE TABLE charge (id bigserial PRIMARY KEY, order_id bigint NOT NULL UNIQUE, amount numeric, status text);
CREATE TABLE account (id bigint PRIMARY KEY, balance numeric NOT NULL, status text, log text, version int);
CREATE TABLE processed (event_id text PRIMARY KEY, done_at timestamptz DEFAULT now());
CREATE TABLE seen_event (id serial PRIMARY KEY, event_id text NOT NULL);
CREATE TABLE job (id bigserial PRIMARY KEY, status text, attempts int, payload jsonb);
"""
engine = create_engine("postgresql://")
'''


def lint(folder: Path, files: dict[str, str]) -> list[tuple[str, int, str]]:
    """Path, line and rule of the findings, as they are shown by default."""
    for path, source in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(source, encoding="utf-8")
    return [(found["path"], found["line"], found["rule"]) for found in findings(folder)]


EXAMPLES = Path(__file__).parent / "data" / "statements.txt"


def examples() -> list[tuple[str, str]]:
    """Name and source of each example: tasks, with `# <- rule` on the lines that are reported."""
    parts = re.split(r"^### (.*)$", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("name", "source"), examples(), ids=[name.replace(" ", "-") for name, _ in examples()])
def test_examples(name: str, source: str, tmp_path: Path) -> None:
    whole = HEAD + source
    marked = [
        ("tasks.py", number, rule)
        for number, line in enumerate(whole.splitlines(), 1)
        for rule in line.partition("# <- ")[2].split(", ")
        if rule
    ]
    assert lint(tmp_path, {"tasks.py": whole}) == marked


BILL = """\
from celery import shared_task
import psycopg

@shared_task(acks_late=True, autoretry_for=(Exception,))
def bill(team_id, period):
    with psycopg.connect("x") as conn:
        conn.execute("INSERT INTO invoice (team_id, period) VALUES (%s, %s)", (team_id, period))
"""
TABLE = "CREATE TABLE public.invoice (id bigserial PRIMARY KEY, team_id bigint NOT NULL, period text NOT NULL);"
CREATED = """\
from alembic import op
import sqlalchemy as sa

def upgrade():
    op.create_table(
        "invoice",
        sa.Column("id", sa.BigInteger(), primary_key=True),
        sa.Column("team_id", sa.BigInteger(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
    )

def downgrade():
    op.drop_table("invoice")
"""
DJANGO = {
    "shop/__init__.py": "",
    "shop/models.py": """\
from django.db import models

class Team(models.Model):
    name = models.CharField(max_length=10)

class Invoice(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE)
    period = models.CharField(max_length=10)
""",
    "tasks.py": """\
from celery import shared_task
from shop.models import Invoice

@shared_task(acks_late=True, autoretry_for=(Exception,))
def bill(team_id, period):

    Invoice.objects.create(team_id=team_id, period=period)
""",
    "shop/migrations/__init__.py": "",
}
MAPPED = {
    "models.py": """\
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

class Base(DeclarativeBase): pass

class Invoice(Base):
    __tablename__ = "invoice"
    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int]
    period: Mapped[str]
""",
    "tasks.py": """\
from celery import shared_task
from sqlalchemy.orm import Session
from models import Invoice
@shared_task(acks_late=True, autoretry_for=(Exception,))
def bill(engine, team_id, period):
    with Session(engine) as session, session.begin():
        session.add(Invoice(team_id=team_id, period=period))
""",
}
ADDED = """\
        migrations.AddConstraint(
            model_name="invoice", constraint=models.UniqueConstraint(fields=["team", "period"], name="once")
        ),
"""
TOGETHER = 'migrations.AlterUniqueTogether(name="invoice", unique_together={("team", "period")}),'
DOUBLED, HELD = "create-without-unique-key", "unhandled-duplicate"


def upgrade(*lines: str) -> str:
    return "\n    ".join(["from alembic import op", "def upgrade():", *lines]).replace("\n    def", "\ndef")


def migration(*operations: str) -> str:
    return "\n".join(
        [
            "from django.db import migrations, models",
            "class Migration(migrations.Migration):",
            "    operations = [",
            *operations,
            "    ]",
        ]
    )


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        pytest.param({"tasks.py": BILL}, "", id="no schema"),
        pytest.param({"tasks.py": BILL, "db/schema.sql": TABLE}, DOUBLED, id="schema"),
        pytest.param({"tasks.py": BILL, "tests/schema.sql": TABLE}, "", id="schema of tests"),
        pytest.param({"tasks.py": BILL, "schema.sql": TABLE + " " * (1 << 20)}, "", id="schema that is data"),
        pytest.param(
            {
                "tasks.py": BILL,
                "a.sql": TABLE,
                "b.sql": "CREATE UNIQUE INDEX CONCURRENTLY once ON invoice (team_id, period);",
            },
            HELD,
            id="index in another file",
        ),
        pytest.param({"tasks.py": BILL, "versions/1.py": CREATED}, DOUBLED, id="create_table"),
        *(
            pytest.param(
                {"tasks.py": BILL, "versions/1.py": CREATED, "versions/2.py": upgrade(*lines)}, rule, id=lines[0]
            )
            for lines, rule in (
                (['op.create_unique_constraint("once", "invoice", ["team_id", "period"])'], HELD),
                (['op.create_index("once", "invoice", ["team_id", "period"], unique=True)'], HELD),
                (['op.create_index("quick", "invoice", ["team_id", "period"])'], DOUBLED),
                (['op.execute("ALTER TABLE invoice ADD CONSTRAINT once UNIQUE (team_id, period)")'], HELD),
                (
                    [
                        'with op.batch_alter_table("invoice") as batch:',
                        '    batch.create_unique_constraint("once", ["team_id", "period"])',
                    ],
                    HELD,
                ),
            )
        ),
        pytest.param(MAPPED, DOUBLED, id="mapped"),
        pytest.param(
            {
                **MAPPED,
                "versions/1.py": upgrade('op.create_unique_constraint("once", "invoice", ["team_id", "period"])'),
            },
            HELD,
            id="mapped, key in a migration",
        ),
        pytest.param(DJANGO, DOUBLED, id="model"),
        *(
            pytest.param(
                {
                    **DJANGO,
                    **{f"shop/migrations/{number}.py": migration(each) for number, each in enumerate(operations)},
                },
                rule,
                id=name,
            )
            for name, operations, rule in (
                ("RunSQL", ['migrations.RunSQL("CREATE UNIQUE INDEX once ON shop_invoice (team_id, period)"),'], HELD),
                (
                    "RunSQL about no key",
                    [
                        'migrations.RunSQL("ALTER TABLE shop_invoice ALTER COLUMN period SET DEFAULT 0"),',
                        'migrations.RunSQL(["ALTER TABLE shop_invoice ALTER period DROP NOT NULL", "VACUUM"]),',
                    ],
                    DOUBLED,
                ),
                ("AddConstraint", [ADDED], HELD),
                (
                    "RemoveConstraint",
                    [ADDED, 'migrations.RemoveConstraint(model_name="invoice", name="once"),'],
                    DOUBLED,
                ),
                ("AlterUniqueTogether", [TOGETHER], HELD),
                (
                    "AlterUniqueTogether to nothing",
                    [TOGETHER, 'migrations.AlterUniqueTogether(name="invoice", unique_together=set()),'],
                    DOUBLED,
                ),
            )
        ),
        pytest.param(
            {**DJANGO, "tasks.py": BILL.replace("INTO invoice", "INTO shop_invoice")}, DOUBLED, id="its table"
        ),
    ],
)
def test_where_keys_are_declared(files: dict[str, str], rule: str, tmp_path: Path) -> None:
    assert lint(tmp_path, files) == ([("tasks.py", 7, rule)] if rule else [])


def test_a_table_that_is_deleted_from_is_purged(tmp_path: Path) -> None:
    files = {
        "schema.sql": "CREATE TABLE done (event_id text PRIMARY KEY); CREATE TABLE account (id int, n int);",
        "tasks.py": BILL.replace(
            "INTO invoice (team_id, period) VALUES (%s, %s)", "INTO done VALUES (%s) ON CONFLICT DO NOTHING"
        )
        .replace("conn.execute", "if conn.execute")
        .replace("(team_id, period))", "(team_id,)).rowcount:")
        + '            conn.execute("UPDATE account SET n = n + 1 WHERE id = 1")\n',
    }
    for path, source in files.items():
        (tmp_path / path).write_text(source, encoding="utf-8")
    assert [found["rule"] for found in findings(tmp_path, "--min-severity", "note")] == ["journal-never-purged"]
    (tmp_path / "purge.py").write_text('CLEAN = "DELETE FROM done WHERE at < now()"', encoding="utf-8")
    assert findings(tmp_path, "--min-severity", "note") == []


@pytest.mark.parametrize(("source", "loaded"), [("", False), (BILL, True)])
def test_the_parser_is_loaded_only_for_statements(source: str, loaded: bool, tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(f"{source}x = 1\n", encoding="utf-8")
    program = "import sys; from idemlint.cli import run; run(['check', '.']); sys.exit('sqlglot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == loaded, done.stderr
