"""Sessions: when their transactions open and end, and what that means for a second run."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from session_source import body, module

# --- Transactions ----------------------------------------------------------------------------------------------------

WAYS = {
    "a block that commits": "with Local.begin() as db:\n    {}\n",
    "a session and its transaction": "with Local() as db, db.begin():\n    {}\n",
    "a session that is committed": "with Local() as db:\n    {}\n    db.commit()\n",
    "a session without a block": "db = Local()\n{}\ndb.commit()\ndb.close()\n",
    "a session given the engine": "with Session(engine) as db:\n    {}\n    db.commit()\n",
    "a shared session": "db = shared\n{}\ndb.commit()\n",
    "a connection": "with engine.begin() as db:\n    {}\n",
    "an asynchronous one": "async with Async() as db:\n    await {}\n    await db.commit()\n",
    "an asynchronous block": "async with Async.begin() as db:\n    await {}\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_open_and_commit(tmp_path: Path, way: str) -> None:
    source = WAYS[way].format("db.execute(update(Order).where(Order.id == key).values(status='x'))") + "pay(key)\n"
    walked = body(tmp_path, source, "key", "async def" if "async" in way else "def")
    change, call = walked.effects("update", "external")
    transaction = walked.transaction(change)
    assert transaction.known
    assert transaction.end is not None
    assert call.transactions == ()


@pytest.mark.parametrize("way", WAYS)
def test_a_call_before_the_commit_is_inside(tmp_path: Path, way: str) -> None:
    change = "db.execute(update(Order).where(Order.id == key).values(status='x'))"
    source = WAYS[way].format(change + "; pay(key)")
    walked = body(tmp_path, source, "key", "async def" if "async" in way else "def")
    assert walked.only("external").transactions == walked.only("update").transactions


def test_a_transaction_that_only_read_holds_nothing(tmp_path: Path) -> None:
    source = """
    with Local() as db:
        order = db.get(Order, key)
        pay(order.id)
        order.status = "paid"
        pay(order.id)
        db.commit()
    """
    first, second = body(tmp_path, source, "key").effects("external")
    assert first.transactions == ()
    assert len(second.transactions) == 1


def test_transactions_of_two_sessions_need_not_nest(tmp_path: Path) -> None:
    source = """
    one, two = Local(), Local()
    one.add(Line(sku=key))
    two.add(Line(sku=key))
    one.commit()
    pay(key)
    two.commit()
    """
    walked = body(tmp_path, source, "key")
    first, second = walked.effects("insert")
    assert set(first.transactions).isdisjoint(second.transactions)
    assert walked.only("external").transactions == second.transactions


def test_a_second_commit_ends_a_second_transaction(tmp_path: Path) -> None:
    source = """
    db.add(Line(sku=key))
    db.commit()
    db.add(Line(sku=key))
    db.commit()
    """
    first, second = body(tmp_path, source).effects("insert")
    assert first.transactions != second.transactions


@pytest.mark.parametrize("parameters", ["db: Session, key", "db: AsyncSession, key", "request, key", "self, key"])
def test_a_session_handed_in_is_the_callers(tmp_path: Path, parameters: str) -> None:
    db = "db" if parameters.startswith("db") else f"{parameters.partition(',')[0]}.db"
    source = f"""
    order = {db}.query(Order).filter(Order.id == key).one()
    order.status = "x"
    {db}.add(Line(order_id=key, sku="x"))
    pay(key)
    """
    walked = body(tmp_path, source, parameters)
    change, call = walked.effects("save", "external")
    assert not walked.transaction(change).known
    assert call.transactions == change.transactions
    assert "external-call-in-transaction" not in walked.rules


def test_a_commit_makes_the_callers_transaction_known(tmp_path: Path) -> None:
    walked = body(tmp_path, "db.add(Line(sku=key))\npay(key)\ndb.commit()\n")
    assert walked.transaction(walked.only("insert")).known


def test_a_dependency_gives_what_its_function_yields(tmp_path: Path) -> None:
    source = """
    from fastapi import Depends

    def provide():
        with Local() as session:
            yield session

    @app.task(acks_late=True)
    def task(key, unit=Depends(provide)):
        unit.get(Order, key).status = "x"
    """
    walked = module(tmp_path, source)
    assert not walked.transaction(walked.only("save")).known


def test_a_branch_that_may_have_committed(tmp_path: Path) -> None:
    source = """
    with Local() as db:
        db.add(Line(sku=key))
        if other:
            db.commit()
        pay(key)
        db.add(Line(sku=key))
        db.commit()
    """
    walked = body(tmp_path, source, "key, other")
    first, second = walked.effects("insert")
    assert walked.only("external").transactions == (), "not open for sure"
    assert first.transactions == second.transactions, "not split for sure"


def test_a_branch_that_leaves_has_no_say(tmp_path: Path) -> None:
    source = """
    db = Local()
    db.add(Line(sku=key))
    if other:
        db.rollback()
        return
    pay(key)
    db.commit()
    """
    walked = body(tmp_path, source, "key, other")
    assert walked.only("external").transactions == walked.only("insert").transactions


def test_a_loop_that_commits_each_turn(tmp_path: Path) -> None:
    source = """
    with Local() as db:
        for order in db.scalars(select(Order).where(Order.status == "new")):
            order.status = "sent"
            db.commit()
            pay(order.id)
    """
    walked = body(tmp_path, source, "key")
    change = walked.only("save")
    assert walked.transaction(change).loops == change.loops
    assert walked.only("external").transactions == ()


def test_a_session_made_in_a_context_manager_of_the_project(tmp_path: Path) -> None:
    source = """
    @contextmanager
    def scope():
        session = Local()
        try:
            yield session
            session.commit()
        except Exception:
            session.rollback()
            raise
        finally:
            session.close()

    @app.task(acks_late=True)
    def task(key):
        with scope() as db:
            db.add(Line(sku=key))
            if key:
                return
        pay(key)
    """
    walked = module(tmp_path, source)
    assert walked.transaction(walked.only("insert")).end is not None
    assert walked.only("external").transactions == ()


def test_a_session_kept_by_an_object(tmp_path: Path) -> None:
    source = """
    class Orders:
        def __init__(self, session: Session) -> None:
            self.session = session

        def close(self, key):
            self.session.get(Order, key).closed = True

    @app.task(acks_late=True)
    def task(key):
        with Local() as db:
            Orders(db).close(key)
            db.add(Line(sku=key))
            db.commit()
    """
    walked = module(tmp_path, source)
    assert walked.only("save").transactions == walked.only("insert").transactions


def test_a_helper_that_returns_out_of_its_block(tmp_path: Path) -> None:
    source = """
    def mark(key):
        with Local.begin() as db:
            db.add(Applied(event=key, kind="a"))
            return True

    @app.task(acks_late=True)
    def task(key):
        mark(key)
        pay(key)
    """
    walked = module(tmp_path, source)
    call = walked.only("external")
    assert call.transactions == ()
    assert [fact.kind for fact in call.facts] == ["inserted"]


def test_a_savepoint_is_inside(tmp_path: Path) -> None:
    source = """
    with Local.begin() as db:
        db.add(Line(sku=key))
        with db.begin_nested():
            db.add(Line(sku=key))
        db.add(Line(sku=key))
    """
    first, second, third = body(tmp_path, source, "key").effects("insert")
    assert first.transactions == third.transactions
    assert len(second.transactions) == 2
    assert second.transactions[:1] == first.transactions


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("db.begin(nested=True)", "db.commit()"),
        ("point = db.begin_nested()", "point.commit()"),
    ],
)
def test_savepoints_without_a_block(tmp_path: Path, begin: str, end: str) -> None:
    source = f"""
    with Local() as db:
        order = db.query(Order).filter_by(number=key).first()
        {begin}
        try:
            db.add(Order(number=key))
            {end}
        except IntegrityError:
            {end.replace("commit", "rollback")}
        db.add(Line(sku=key))
        db.commit()
    """
    walked = body(tmp_path, source, "key")
    first, second = walked.effects("insert")
    assert first.transactions[:1] == second.transactions
    assert len(first.transactions) == 2
    assert "integrity-error-in-transaction" not in walked.rules


# --- Locks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lock",
    [
        "db.query(Order).filter_by(id=key).with_for_update().one()",
        "db.execute(select(Order).where(Order.id == key).with_for_update(skip_locked=True)).scalar_one()",
        "db.get(Order, key, with_for_update=True)",
        "db.scalars(select(Order).where(Order.id == key).with_for_update()).one()",
    ],
)
def test_a_row_lock_is_held_to_the_end_of_the_transaction(tmp_path: Path, lock: str) -> None:
    source = f"""
    with Local() as db:
        order = {lock}
        order.total += 1
        db.commit()
        order.total += 1
        db.commit()
    """
    first, second = body(tmp_path, source, "key").effects("save")
    assert first.lock == first.transactions[0]
    assert second.lock != second.transactions[0]


@pytest.mark.parametrize(
    "lock",
    [
        "db.execute(select(Order).where(Order.id == key).with_for_update())",
        "db.refresh(db.get(Order, key), with_for_update=True)",
        "db.execute(select(func.pg_advisory_xact_lock(key)))",
    ],
)
def test_a_lock_taken_for_its_own_sake(tmp_path: Path, lock: str) -> None:
    source = f"""
    with Local.begin() as db:
        {lock}
        if not db.scalar(select(exists().where(Line.order_id == key))):
            db.add(Line(order_id=key, sku="x"))
    """
    walked = body(tmp_path, source, "key")
    inserted = walked.only("insert")
    assert any(effect.lock in inserted.transactions for effect in walked.effects() if effect.lock is not None)
    assert "check-then-create" not in walked.rules


# --- What a second run is stopped by ---------------------------------------------------------------------------------

GOOD = {
    "a count of rows after the commit": """
        with Local.begin() as db:
            done = db.execute(upsert(Applied).values(event=key, kind="a").on_conflict_do_nothing())
        if done.rowcount == 0:
            return
        pay(key)
        """,
    "what an insert returns": """
        with Local.begin() as db:
            stmt = upsert(Applied).values(event=key, kind="a").on_conflict_do_nothing().returning(Applied.id)
            if db.execute(stmt).scalar_one_or_none() is None:
                return
            db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
        """,
    "a conditional update": """
        with Local() as db:
            stmt = update(Order).where(Order.id == key, Order.status == "new").values(status="paying")
            claimed = db.execute(stmt)
            db.commit()
            if not claimed.rowcount:
                return
            pay(key)
        """,
    "a conditional update of a query": """
        db = Local()
        count = db.query(Order).filter_by(id=key, status="new").update({"status": "paying"})
        db.commit()
        if count != 1:
            return
        pay(key)
        """,
    "what an update returns": """
        with Local.begin() as db:
            stmt = update(Order).where(Order.id == key, Order.status == "new").values(status="paying").returning(Order)
            order = db.scalars(stmt).one_or_none()
        if order is None:
            return
        pay(order.id)
        """,
    "the rows an update returns": """
        with Local.begin() as db:
            stmt = update(Order).where(Order.status == "new").values(status="paying").returning(Order)
            orders = db.execute(stmt).scalars().all()
        for order in orders:
            pay(order.id)
        """,
    "an integrity error at the flush": """
        with Local() as db:
            db.add(Applied(event=key, kind="a"))
            try:
                db.flush()
            except IntegrityError:
                db.rollback()
                return
            db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
            db.commit()
        """,
    "an integrity error at the commit": """
        db = Local()
        db.add(Applied(event=key, kind="a"))
        try:
            db.commit()
        except IntegrityError:
            db.rollback()
            return
        pay(key)
        """,
    "an integrity error in a savepoint": """
        with Local.begin() as db:
            try:
                with db.begin_nested():
                    db.add(Applied(event=key, kind="a"))
            except IntegrityError:
                return
            db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
        """,
    "a unique row beside a change, in one transaction": """
        with Local.begin() as db:
            order = db.query(Order).filter_by(number=key).with_for_update().one()
            if order.closed:
                return
            order.total += 1
            db.add(Applied(event=key, kind="a"))
        """,
    "a unique row on the way of the change": """
        with Local.begin() as db:
            if key > 3:
                db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
                db.add(Applied(event=key, kind="a"))
        """,
    "state and lock": """
        with Local.begin() as db:
            order = db.get(Order, key, with_for_update=True)
            if order.closed:
                return
            order.closed = True
            order.total += 1
        """,
    "rows told apart in the database": """
        with Local() as db:
            for order in db.scalars(select(Order).where(Order.closed.is_(False)).with_for_update(skip_locked=True)):
                order.closed = True
                db.commit()
                pay(order.id)
        """,
    "a version": """
        with Local.begin() as db:
            counter = db.get(Counter, key)
            counter.balance = counter.balance + 1
        """,
    "the same value again": """
        with Local.begin() as db:
            db.get(Order, key).status = "done"
            db.execute(update(Order).where(Order.id == key).values(status="done"))
            db.execute(delete(Line).where(Line.order_id == key))
            stmt = upsert(Order).values(number=key, total=1)
            db.execute(stmt.on_conflict_do_update(index_elements=["number"], set_={"total": stmt.excluded.total}))
            db.merge(Order(id=key, number=key, total=1))
        """,
    "columns that a conflict names": """
        with Local.begin() as db:
            done = db.execute(upsert(Line).values(sku=key).on_conflict_do_nothing(index_elements=["sku"]))
            if done.rowcount:
                db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
        """,
}


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD.keys())
def test_good(tmp_path: Path, source: str) -> None:
    walked = body(tmp_path, source, "key")
    assert walked.effects(), "it is followed"
    assert [said for said in walked.said if not said.startswith(("journal", "silent", "unhandled"))] == []


BAD = {
    "a charge before the state is stored": (
        """
        with Local() as db:
            order = db.get(Order, key)
            if order.closed:
                return
            pay(key)
            order.closed = True
            db.commit()
        """,
        {"unkeyed-external-call"},
    ),
    "a charge before the claim is committed": (
        """
        with Local() as db:
            db.add(Applied(event=key, kind="a"))
            try:
                db.flush()
            except IntegrityError:
                db.rollback()
                return
            pay(key)
            db.commit()
        """,
        {"external-call-in-transaction", "unkeyed-external-call"},
    ),
    "a count of rows nobody looks at": (
        """
        with Local.begin() as db:
            db.execute(upsert(Applied).values(event=key, kind="a").on_conflict_do_nothing())
            db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
        """,
        {"unguarded-increment"},
    ),
    "a mark and its change in two transactions": (
        """
        with Local.begin() as db:
            done = db.execute(upsert(Applied).values(event=key, kind="a").on_conflict_do_nothing())
            if not done.rowcount:
                return
        with Local.begin() as db:
            db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
        """,
        {"journal-apart-from-effect"},
    ),
    "a change that is committed on a way without the unique row": (
        """
        with Local.begin() as db:
            db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
            if key > 3:
                return
            db.add(Applied(event=key, kind="a"))
        """,
        {"unguarded-increment"},
    ),
    "an error caught in the transaction, which is used on": (
        """
        with Local() as db:
            order = db.query(Order).filter_by(number=key).one()
            db.add(Applied(event=key, kind="a"))
            try:
                db.flush()
            except IntegrityError:
                pass
            order.closed = True
            db.commit()
        """,
        {"integrity-error-in-transaction"},
    ),
    "a unique row that may have been there": (
        """
        with Local.begin() as db:
            mark = db.query(Applied).filter_by(event=key, kind="a").first()
            if mark is None:
                mark = Applied(event=key, kind="a")
            db.add(mark)
            db.execute(update(Order).where(Order.number == key).values(total=Order.total + 1))
        """,
        {"unguarded-increment"},
    ),
    "a value of a row that is loaded or made": (
        """
        with Local.begin() as db:
            order = db.query(Order).filter_by(number=key).first() or Order(number=key, total=0)
            order.total += 1
            db.add(order)
        """,
        {"read-modify-write"},
    ),
    "a row without a key": (
        "with Local.begin() as db:\n    db.add(Line(order_id=key, sku='x'))\n",
        {"create-without-unique-key"},
    ),
    "a row with a random key": (
        "with Local.begin() as db:\n    db.add(Applied(event=str(uuid.uuid4()), kind='a'))\n",
        {"create-without-unique-key"},
    ),
    "a test before the insert": (
        """
        with Local.begin() as db:
            if db.query(Line).filter_by(order_id=key).first() is None:
                db.add(Line(order_id=key, sku="x"))
        """,
        {"check-then-create"},
    ),
    "a value read into Python": (
        "with Local.begin() as db:\n    db.get(Order, key).total += 1\n",
        {"read-modify-write"},
    ),
    "a value counted in the database": (
        "with Local.begin() as db:\n    db.query(Order).filter_by(id=key).update({Order.total: Order.total + 1})\n",
        {"unguarded-increment"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "rules"), BAD.values(), ids=BAD.keys())
def test_bad(tmp_path: Path, source: str, rules: set[str]) -> None:
    assert rules <= set(body(tmp_path, source, "key").rules)


def test_a_task_sent_before_the_commit(tmp_path: Path) -> None:
    source = """
    @app.task
    def child(order_id):
        with Local() as db:
            db.get(Order, order_id)

    def early(number):
        with Local() as db:
            order = Order(number=number)
            db.add(order)
            db.flush()
            child.delay(order.id)  # early
            db.commit()

    def late(number):
        with Local() as db:
            order = Order(number=number)
            db.add(order)
            db.commit()
            child.delay(order.id)  # late

    def handed(db: Session, number):
        order = Order(number=number)
        db.add(order)
        db.flush()
        child.delay(order.id)  # nobody knows
    """
    said = [said for said in module(tmp_path, source).said if said.startswith("enqueue-in-transaction")]
    assert said == ["enqueue-in-transaction: child.delay(order.id)  # early"]


# --- Objects that keep a session -------------------------------------------------------------------------------------

UNIT = """
class Unit:
    def __init__(self, make=Local):
        self.make = make

    def __enter__(self):
        self.session = self.make()
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.session.commit()
        else:
            self.session.rollback()
        self.session.close()

"""


def test_an_object_that_commits_when_its_block_ends(tmp_path: Path) -> None:
    source = """
    @app.task(acks_late=True)
    def task(key):
        with Unit() as unit:
            done = unit.session.execute(upsert(Applied).values(event=key, kind="a").on_conflict_do_nothing())
            if not done.rowcount:
                return
        pay(key)
    """
    walked = module(tmp_path, UNIT + textwrap.dedent(source))
    assert walked.transaction(walked.only("insert")).end is not None
    call = walked.only("external")
    assert call.transactions == ()
    assert [fact.kind for fact in call.facts] == ["claim"]
    assert "unkeyed-external-call" not in walked.rules


def test_a_helper_that_returns_out_of_an_objects_block(tmp_path: Path) -> None:
    source = """
    def mark(key):
        with Unit() as unit:
            unit.session.add(Applied(event=key, kind="a"))
            return True

    @app.task(acks_late=True)
    def task(key):
        mark(key)
        pay(key)
    """
    walked = module(tmp_path, UNIT + textwrap.dedent(source))
    assert [fact.kind for fact in walked.only("external").facts] == ["inserted"]


def test_an_object_that_is_committed_by_hand(tmp_path: Path) -> None:
    source = """
    class Unit:
        async def __aenter__(self):
            self.session = Async()
            return self

        async def __aexit__(self, *error):
            await self.session.rollback()

        async def commit(self):
            await self.session.commit()

    @app.task(acks_late=True)
    async def task(key):
        async with Unit() as unit:
            order = await unit.session.get(Order, key)
            order.closed = True
            pay(key)
            await unit.commit()
            pay(key)
    """
    walked = module(tmp_path, source)
    first, second = walked.effects("external")
    assert first.transactions == walked.only("save").transactions
    assert second.transactions == ()


def test_a_row_that_is_made_only_where_a_helper_found_none_is_no_second_one(tmp_path: Path) -> None:
    source = """
        def order_of(db, number):
            if number is not None:
                return db.scalars(select(Order).where(Order.number == number)).first()


        @app.task(acks_late=True)
        def task(number):
            with Local.begin() as db:
                order = order_of(db, number)
                if order is None:
                    order = Order(number=number)
                order.status = "new"
                db.add(order)
        """
    walked = module(tmp_path, source)
    assert [effect.unsure for effect in walked.effects("insert")] == [True]
    assert walked.said == []
