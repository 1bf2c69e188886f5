"""The catalog: what its files may say, what is said of a wrong one, and what the shipped ones know."""

from __future__ import annotations

import pickle
import re
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idemlint.catalog import Catalog, CatalogError, load, vocabulary
from idemlint.catalog.load import _shipped
from idemlint.catalog.patterns import Index, PatternError, expand

EFFECT = 'title = "Shop"\n[[effect]]\ncalls = ["shop.charge"]\nkind = "payment"\nreplay = "keyed"\n'


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def with_file(folder: Path, text: str) -> Catalog:
    file = folder / "own.toml"
    file.write_text(text, encoding="utf-8")
    return load([file])


# --- Patterns --------------------------------------------------------------------------------------------------------

_NAME = st.text("ab", min_size=1, max_size=3)
_WILD = st.one_of(
    _NAME, st.just("*"), st.just("**"), st.text("ab*", min_size=1, max_size=3).map(lambda s: s.replace("**", "*"))
)
_PATH = st.lists(_NAME, min_size=1, max_size=5)


def fits(path: list[str], pattern: list[str]) -> bool:
    """By definition, slowly."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(fits(path[taken:], pattern[1:]) for taken in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and fits(path[1:], pattern[1:])


@given(_PATH, st.lists(_WILD, min_size=1, max_size=4))
def test_a_pattern_fits_what_its_definition_says(path: list[str], pattern: list[str]) -> None:
    if any(left == right == "**" for left, right in pairwise(pattern)):
        return
    index = Index([(".".join(pattern), "row")])
    assert (index.get(".".join(path)) == "row") == fits(path, pattern)


@given(st.lists(st.lists(_NAME, min_size=1, max_size=3), min_size=1, max_size=3))
def test_alternations_are_spelled_out_in_order(groups: list[list[str]]) -> None:
    pattern = ".".join("{" + ",".join(names) + "}" for names in groups)
    expected = [""]
    for names in groups:
        expected = [f"{head}.{name}" if head else name for head in expected for name in names]
    assert list(expand(pattern)) == expected


def test_an_alternation_may_hold_dots_or_nothing() -> None:
    assert expand("a.{b.,}c{,_async}") == ("a.b.c", "a.b.c_async", "a.c", "a.c_async")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a.{b", "braces"),
        ("a.b}", "braces"),
        ("a.{b,{c}}", "braces"),
        ("a..b", 'no name: ""'),
        ("", 'no name: ""'),
        ("a.b c", 'no name: "b c"'),
        ("a.b**", "inside a component"),
        ("a.**.**.b", "twice in a row"),
    ],
)
def test_a_malformed_pattern_says_why(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=re.escape(message)):
        expand(pattern)


def test_the_most_exact_row_counts_and_of_equals_the_last() -> None:
    index = Index(
        [("a.**", "deep"), ("a.*", "any"), ("a.cr*", "begins"), ("a.b", "first"), ("a.b", "last"), ("**.z", "tail")]
    )
    found = {path: index.get(path) for path in ("a.b", "a.create", "a.x", "a.x.y", "q.z", "b")}
    assert found == {
        "a.b": "last",
        "a.create": "begins",
        "a.x": "any",
        "a.x.y": "deep",
        "q.z": "tail",
        "b": None,
    }


# --- What ships ------------------------------------------------------------------------------------------------------


def test_everything_that_ships_loads(catalog: Catalog) -> None:
    assert {file.source for file in _shipped()} >= {"stripe.toml", "celery.toml", "django.toml", "words.toml"}
    assert set(catalog.kinds) == set(vocabulary.KINDS)
    assert load() is catalog


def test_no_two_files_speak_of_one_path() -> None:
    for table in ("effect", "returns", "role", "origin", "guard"):
        seen: dict[str, str] = {}
        for file in _shipped():
            for row in getattr(file, table):
                for path in row.calls:
                    assert path not in seen, f"{table} {path}: {seen[path]} and {file.source}"
                    seen[path] = file.source


def test_rows_can_be_reached_and_lead_somewhere(catalog: Catalog) -> None:
    for file in _shipped():
        for row in file.effect:
            for path in row.calls:
                if "*" not in path:
                    assert catalog.effect(path) is not None, path
            assert row.replay == "keyed" or row.fix is None, row
            assert row.replay != "keyed" or row.key, row
        for rule in file.exception:
            for name in rule.names:
                assert catalog.ancestors(name)[-1] == "builtins.BaseException", name


def test_a_repeat_of_a_natural_effect_costs_nobody_money(catalog: Catalog) -> None:
    for file in _shipped():
        for row in file.effect:
            known = catalog.effect(row.calls[0])
            assert known is not None
            assert known.does
            assert known.result
            assert known.stakes in vocabulary.STAKES
            assert not (row.kind == "payment" and row.replay == "natural"), row


def test_it_goes_to_another_process_whole(catalog: Catalog) -> None:
    copy = pickle.loads(pickle.dumps(catalog))
    assert copy.effect("redis.asyncio.Redis.incr") == catalog.effect("redis.Redis.incr")


EFFECTS = [
    # path, arguments, kind, replay, stakes, key
    ("stripe.Charge.create", {}, "payment", "keyed", "money", "idempotency_key"),
    ("stripe.StripeClient.v1.payment_intents.create", {}, "payment", "keyed", "money", "options.idempotency_key"),
    ("stripe.StripeClient.payment_intents.create", {}, "payment", "keyed", "money", "options.idempotency_key"),
    ("stripe.checkout.Session.create_async", {}, "provision", "keyed", "customer", "idempotency_key"),
    ("stripe.Customer.retrieve", {}, "read", "natural", "internal", None),
    ("stripe.Customer.modify", {}, "set", "natural", "customer", None),
    ("stripe.StripeClient.raw_request", {"#0": "post"}, "payment", "keyed", "money", "idempotency_key"),
    ("stripe.StripeClient.raw_request", {"#0": "get"}, "http", "natural", "customer", "idempotency_key"),
    ("yookassa.Payment.create", {}, "payment", "keyed", "money", "#1"),
    ("yookassa.Payment.capture", {}, "payment", "keyed", "money", "#2"),
    ("cloudpayments.CloudPayments.charge_token", {}, "payment", "repeats", "money", None),
    ("cloudpayments.CloudPayments.refund", {}, "payment", "keyed", "money", "request_id"),
    ("paypalrestsdk.Payment.create", {}, "payment", "repeats", "money", None),
    ("Adyen.Adyen.checkout.payments_api.payments", {}, "payment", "keyed", "money", "idempotency_key"),
    ("braintree.BraintreeGateway.transaction.sale", {}, "payment", "repeats", "money", None),
    ("square.AsyncSquare.payments.create", {}, "payment", "keyed", "money", "idempotency_key"),
    ("razorpay.Client.payment.refund", {}, "payment", "keyed", "money", "headers.X-Refund-Idempotency"),
    ("mollie.api.client.Client.payments.get.refunds.create", {}, "payment", "keyed", "money", "idempotency_key"),
    ("plaid.api.plaid_api.PlaidApi.transfer_create", {}, "payment", "keyed", "money", "#0.idempotency_key"),
    ("requests.get", {}, "read", "natural", "internal", None),
    ("requests.session.post", {}, "http", "keyed", "customer", "headers.*"),
    ("requests.put", {}, "http", "natural", "customer", "headers.*"),
    ("requests.request", {"#0": "post", "#1": ...}, "http", "keyed", "customer", "headers.*"),
    ("requests.request", {"method": "GET"}, "read", "natural", "internal", "headers.*"),
    ("requests.Session.send", {"#0": ...}, "http", "natural", "customer", "#0.headers.*"),
    ("requests.Session.send", {"#0": ..., "#0.#0": "post"}, "http", "keyed", "customer", "#0.headers.*"),
    ("requests.Session.send", {"#0": ..., "#0.method": "GET"}, "read", "natural", "internal", None),
    (
        "httpx.AsyncClient.send",
        {"request": ..., "request.#0": "POST"},
        "http",
        "keyed",
        "customer",
        "request.headers.*",
    ),
    ("requests.request", {"#0": ...}, "http", "natural", "customer", "headers.*"),
    ("httpx.AsyncClient.patch", {}, "http", "keyed", "customer", "headers.*"),
    ("aiohttp.ClientSession.post", {}, "http", "keyed", "customer", "headers.*"),
    ("urllib.request.urlopen", {"#0": ...}, "read", "natural", "internal", "#0.headers.*"),
    ("urllib.request.urlopen", {"#0": ..., "data": ...}, "http", "keyed", "customer", "#0.headers.*"),
    ("django.core.mail.send_mail", {}, "message", "repeats", "customer", None),
    ("django.core.mail.EmailMultiAlternatives.send", {}, "message", "repeats", "customer", None),
    ("anymail.message.AnymailMessage.send", {}, "message", "repeats", "customer", None),
    ("flask_mail.Mail.send", {}, "message", "repeats", "customer", None),
    ("flask_mail.Connection.send_message", {}, "message", "repeats", "customer", None),
    ("flask_mailman.message.EmailMessage.send", {}, "message", "repeats", "customer", None),
    ("fastapi_mail.FastMail.send_message", {}, "message", "repeats", "customer", None),
    ("aiosmtplib.send", {}, "message", "repeats", "customer", None),
    ("yagmail.SMTP.send", {}, "message", "repeats", "customer", None),
    ("django.core.mail.mail_admins", {}, "message", "repeats", "internal", None),
    ("resend.Emails.send", {}, "message", "keyed", "customer", "options.idempotency_key"),
    ("twilio.rest.Client.verify.v2.services.verifications.create", {}, "message", "repeats", "customer", None),
    ("firebase_admin.messaging.send", {}, "push", "repeats", "customer", None),
    ("firebase_admin.messaging.send", {"dry_run": True}, "read", "natural", "internal", None),
    ("firebase_admin.messaging.send", {"dry_run": False}, "push", "repeats", "customer", None),
    ("slack_sdk.web.client.WebClient.chat_postMessage", {}, "chat", "repeats", "customer", None),
    ("slack_sdk.WebClient.chat_update", {}, "set", "natural", "customer", None),
    ("slack_sdk.WebClient.conversations_list", {}, "read", "natural", "internal", None),
    ("aiogram.Bot.send_photo", {}, "chat", "repeats", "customer", None),
    ("telegram.Update.message.reply_text", {}, "chat", "repeats", "customer", None),
    ("telebot.TeleBot.edit_message_text", {}, "set", "natural", "customer", None),
    ("boto3.client.sqs.send_message", {}, "publish", "keyed", "customer", "MessageDeduplicationId"),
    ("boto3.client.sns.publish", {"PhoneNumber": ...}, "message", "repeats", "customer", "MessageDeduplicationId"),
    ("boto3.client.s3.put_object", {}, "object", "natural", "customer", None),
    ("boto3.client.ec2.run_instances", {}, "provision", "keyed", "customer", "ClientToken"),
    ("boto3.client.ec2.describe_instances", {}, "read", "natural", "internal", None),
    ("boto3.client.events.put_events", {}, "publish", "repeats", "customer", None),
    ("boto3.client.iam.put_role_policy", {}, "set", "natural", "customer", None),
    ("boto3.client.dynamodb.update_item", {"UpdateExpression": "SET a = :v"}, "set", "natural", "customer", None),
    (
        "boto3.client.dynamodb.update_item",
        {"UpdateExpression": "SET n = n + :d"},
        "increment",
        "repeats",
        "customer",
        None,
    ),
    (
        "boto3.resource.dynamodb.Table.update_item",
        {"UpdateExpression": "SET #n = if_not_exists(#n, :zero) + :d"},
        "increment",
        "repeats",
        "customer",
        None,
    ),
    ("boto3.client.dynamodb.update_item", {"UpdateExpression": "ADD n :d"}, "increment", "repeats", "customer", None),
    (
        "boto3.client.dynamodb.update_item",
        {"UpdateExpression": "ADD n :d", "ConditionExpression": ...},
        "set",
        "natural",
        "customer",
        None,
    ),
    ("google.cloud.pubsub_v1.PublisherClient.publish", {}, "publish", "repeats", "customer", None),
    ("kafka.KafkaProducer.send", {}, "publish", "keyed", "customer", "headers.*"),
    ("nats.js.JetStreamContext.publish", {}, "publish", "keyed", "customer", "headers.Nats-Msg-Id"),
    ("pika.BlockingConnection.channel.basic_publish", {}, "publish", "repeats", "customer", None),
    ("redis.Redis.incr", {}, "increment", "repeats", "customer", None),
    ("redis.asyncio.client.Redis.rpush", {}, "append", "repeats", "customer", None),
    ("redis.Redis.hset", {}, "set", "natural", "internal", None),
    ("redis.Redis.zadd", {"incr": True}, "increment", "repeats", "customer", None),
    ("redis.Redis.zadd", {}, "set", "natural", "internal", None),
    ("redis.Redis.xadd", {}, "append", "keyed", "customer", "idmp"),
    ("django.core.cache.cache.incr", {}, "increment", "repeats", "customer", None),
    ("django.core.cache.caches.__getitem__.set", {}, "cache", "natural", "internal", None),
    ("elasticsearch.AsyncElasticsearch.index", {}, "index", "keyed", "customer", "id"),
    ("elasticsearch.Elasticsearch.update", {"script": ...}, "increment", "repeats", "customer", None),
    ("elasticsearch.Elasticsearch.update", {"doc": ...}, "index", "natural", "customer", None),
    ("open", {"#0": ..., "#1": "a"}, "file", "repeats", "customer", None),
    ("open", {"#0": ..., "mode": "wb"}, "file", "natural", "customer", None),
    ("open", {"#0": ...}, "read", "natural", "internal", None),
]


@pytest.mark.parametrize(("path", "arguments", "kind", "replay", "stakes", "key"), EFFECTS)
def test_what_calls_do(
    catalog: Catalog, path: str, arguments: dict[str, object], kind: str, replay: str, stakes: str, key: str | None
) -> None:
    row = catalog.effect(path)
    assert row is not None
    row = row.given(arguments)
    assert (row.kind, row.replay, row.stakes) == (kind, replay, stakes)
    assert key is None or key in [str(slot) for slot in row.key]


@pytest.mark.parametrize(
    "path",
    [
        "stripe.Charge.create",
        "yookassa.Refund.create",
        "boto3.client.ecs.run_task",
        "mollie.api.client.Client.payments.create",
    ],
)
def test_the_fix_of_a_call_for_which_the_sdk_makes_up_a_key_is_to_pass_another(catalog: Catalog, path: str) -> None:
    row = catalog.effect(path)
    assert row is not None
    assert row.fix
    assert "{key}" in row.fix


@pytest.mark.parametrize(
    ("path", "arguments", "given"),
    [
        ("redis.asyncio.from_url", {}, "redis.Redis"),
        ("redis.Redis.pipeline", {}, "redis.Redis"),
        ("boto3.client", {"#0": "sqs"}, "boto3.client.sqs"),
        ("boto3.session.Session.client", {"service_name": "s3"}, "boto3.client.s3"),
        ("boto3.client", {"#0": ...}, None),
        ("requests.Session.post", {}, "requests.Response"),
        ("stripe.PaymentIntent.retrieve", {}, "stripe.PaymentIntent"),
        ("logging.getLogger", {}, "logging.Logger"),
        ("requests.Session", {}, None),
    ],
)
def test_what_calls_give(catalog: Catalog, path: str, arguments: dict[str, object], given: str | None) -> None:
    assert catalog.returns(path, arguments) == given


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("django.db.transaction.atomic", "transaction"),
        ("django.db.transaction.on_commit", "on-commit"),
        ("functools.partial", "partial"),
        ("contextlib.contextmanager", "context-manager"),
        ("contextlib.suppress", "suppress"),
        ("staticmethod", "transparent"),
        ("logging.Logger.warning", "log"),
        ("loguru.logger.info", "log"),
        ("prometheus_client.Counter.labels.inc", "metric"),
        ("redis.lock.Lock.release", "release"),
        ("tenacity.retry", "retry"),
        ("stripe.Charge.create", None),
    ],
)
def test_roles(catalog: Catalog, path: str, role: str | None) -> None:
    assert catalog.role(path) == role


@pytest.mark.parametrize(
    ("path", "queue"),
    [
        ("aioboto3.client.sqs.receive_message", "sqs"),
        ("redis.asyncio.Redis.blpop", "redis-list"),
        ("confluent_kafka.DeserializingConsumer.poll", "kafka"),
        ("kafka.KafkaConsumer.__iter__", "kafka"),
        ("kafka.KafkaConsumer.seek", None),
        ("redis.Redis.lpop", None),
    ],
)
def test_what_receives(catalog: Catalog, path: str, queue: str | None) -> None:
    row = catalog.receives(path)
    assert (row.name if row is not None else None) == queue


def test_every_queue_that_wants_an_acknowledgement_knows_one(catalog: Catalog) -> None:
    for row in catalog.consumers:
        assert row.acknowledge or row.until or row.kept == "received", row
        assert all(catalog.acknowledges(path) for path in row.acknowledge)
        assert all(catalog.acknowledges_at_end(path) for path in row.blocks)
        assert all(catalog.renews(path) for path in row.renew)
        assert all(catalog.receives(path) is row for path in row.receive)


@pytest.mark.parametrize(
    ("path", "arguments", "origin"),
    [
        ("uuid.uuid4", 0, "random"),
        ("uuid.uuid5", 2, "arguments"),
        ("random.SystemRandom.choice", 1, "random"),
        ("datetime.datetime.now", 1, "clock"),
        ("datetime.datetime.strftime", 1, "arguments"),
        ("datetime.date.today", 0, "clock"),
        ("django.utils.timezone.now", 0, "clock"),
        ("django.utils.timezone.localtime", 0, "clock"),
        ("django.utils.timezone.localtime", 1, "arguments"),
        ("time.strftime", 1, "clock"),
        ("time.strftime", 2, "arguments"),
        ("bson.ObjectId", 0, "random"),
        ("bson.ObjectId", 1, "arguments"),
        ("hashlib.sha256.hexdigest", 0, "arguments"),
        ("str.join", 1, "arguments"),
        ("os.environ.get", 1, "constant"),
        ("django.conf.settings.SECRET_KEY", 0, "constant"),
        ("celery.current_task.request.id", 0, "task-id"),
        ("celery.current_task.request.retries", 0, "attempt"),
        ("hash", 1, "process"),
        ("requests.post", 1, None),
    ],
)
def test_origins(catalog: Catalog, path: str, arguments: int, origin: str | None) -> None:
    assert catalog.origin(path, arguments) == origin


@pytest.mark.parametrize(
    ("path", "arguments", "guard"),
    [
        ("redis.Redis.set", {"nx": True, "ex": 60}, ("claim", "truthy", "given")),
        ("redis.Redis.set", {"#0": ..., "#1": ...}, None),
        ("redis.Redis.set", {"nx": False}, None),
        ("redis.Redis.setnx", {}, ("claim", "truthy", "never")),
        ("django.core.cache.cache.add", {}, ("claim", "truthy", "always")),
        ("redis.Redis.lock", {}, ("lock", "entered", "given")),
        ("threading.Lock", {}, ("lock", "entered", "never")),
        (
            "boto3.client.dynamodb.put_item",
            {"ConditionExpression": "attribute_not_exists(pk)"},
            ("claim", "entered", "never"),
        ),
        ("boto3.client.dynamodb.put_item", {"ConditionExpression": ...}, None),
        ("celery_once.QueueOnce", {}, ("enqueue", "entered", "always")),
    ],
)
def test_guards(catalog: Catalog, path: str, arguments: dict[str, object], guard: tuple[str, str, str] | None) -> None:
    row = catalog.guard(path, arguments)
    assert (row and (row.guard, row.won, row.expires)) == guard


def test_exceptions_and_what_is_above_them(catalog: Catalog) -> None:
    timeout = catalog.exception("requests.exceptions.ReadTimeout")
    assert timeout is not None
    assert timeout.means == "ambiguous"
    above = catalog.ancestors("requests.exceptions.ReadTimeout")
    assert above[:4] == ("requests.ReadTimeout", "requests.Timeout", "requests.RequestException", "builtins.OSError")
    assert catalog.ancestors("shop.errors.Declined") == ("shop.errors.Declined",)
    assert catalog.ancestors("IOError")[0] == "builtins.OSError"
    conflict = catalog.exception("django.db.utils.IntegrityError")
    assert conflict is not None
    assert conflict.means == "conflict"


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("numpy.array", True),
        ("json.dumps", True),
        ("print", True),
        ("stripe.Webhook.construct_event", True),
        ("redis.Redis.eval", False),
        ("boto3.client.appflow.start_flow", False),
        ("unheard_of.call", False),
        ("dict.get", True),
        ("builtins.dict.get.save", False),
        ("django.db.models.Q", True),
        ("django.db.models.Model.order.save", False),
        ("celery.Task.request.update", True),
        ("celery.Task.shop.client.charge", False),
        ("google.cloud.storage.Client.bucket", True),
        ("google.cloud.bigquery.Client.query", False),
    ],
)
def test_what_is_known(catalog: Catalog, path: str, known: bool) -> None:
    assert catalog.knows(path) is known


# --- Celery ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "celery.shared_task",
        "celery.app.shared_task",
        "celery.Celery.task",
        "celery.current_app.task",
        "celery.task.task",
        "celery.task",
    ],
)
def test_what_makes_a_celery_task(catalog: Catalog, path: str) -> None:
    row = catalog.declares(path)
    assert row is not None
    assert row.framework == "celery"


def test_celery_classes_and_sends(catalog: Catalog) -> None:
    for path in (
        "celery.Task",
        "celery.app.task.Task",
        "celery.contrib.django.task.DjangoTask",
        "celery_once.QueueOnce",
    ):
        row = catalog.task_base(path)
        assert row is not None, path
        assert row.run == "run"
    assert catalog.registers("celery.Celery.register_task") is not None
    send = catalog.sends("celery.Celery.send_task")
    assert send is not None
    assert [str(slot) for slot in send.args] == ["#1", "args"]
    assert catalog.composes("celery.chain") is not None


@pytest.mark.parametrize(
    ("method", "of", "does"),
    [
        ("delay", "task", "enqueue"),
        ("apply_async", "signature", "enqueue"),
        ("s", "task", "signature"),
        ("__call__", "task", "local"),
        ("__call__", "signature", "local"),
        ("__call__", "composition", "enqueue"),
        ("retry", "task", "retry"),
        ("apply", "task", "local"),
        ("delete", "task", None),
    ],
)
def test_methods_of_a_celery_task(catalog: Catalog, method: str, of: str, does: str | None) -> None:
    row = catalog.framework("celery").method(method, of)
    assert (row and row.does) == does


def test_celery_sends_on_commit_only_where_it_says_so(catalog: Catalog) -> None:
    celery = catalog.framework("celery")
    deferred = {name for row in celery.methods if row.commit == "deferred" for name in row.names}
    assert deferred == {"delay_on_commit", "apply_async_on_commit"}


def test_words_worth_reading_a_file_for(catalog: Catalog) -> None:
    words = catalog.scan_words()
    assert {"shared_task", "delay", "apply_async", "send_task", "on_commit"} <= words
    assert not {"replace", "signature", "__call__"} & words


# --- Names and addresses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "host", "accepted", "speaks"),
    [
        ("Idempotency-Key", None, True, True),
        ("IDEMPOTENCE-KEY", None, True, True),
        ("X-Request-ID", None, True, False),
        ("X-Request-ID", "api.cloudpayments.ru", True, True),
        ("X-Request-ID", "api.other.com", False, False),
        ("PayPal-Request-Id", None, True, True),
        ("idempotency_key", None, True, True),
        ("message_deduplication_id", None, True, True),
        ("X-Plane-Delivery", None, True, True),
        ("home_delivery", None, False, False),
        ("ce-event-id", None, True, True),
        ("X-Correlation-Id", None, False, False),
        ("dedup_trace", None, False, False),
        ("Authorization", None, False, False),
    ],
)
def test_names_of_keys(catalog: Catalog, name: str, host: str | None, accepted: bool, speaks: bool) -> None:
    assert catalog.is_key_header(name, host) is accepted
    assert catalog.is_key_name(name, host) is speaks


@pytest.mark.parametrize(
    ("name", "stakes"),
    [
        ("balance", "money"),
        ("bonus_points_total", "money"),
        ("available_credits", "money"),
        ("total_paid", "money"),
        ("stockQuantity", "money"),
        ("failed_attempts", "internal"),
        ("credit_attempts", "internal"),
        ("view_count", "internal"),
        ("likes", "customer"),
        ("total", "customer"),
    ],
)
def test_stakes_of_columns(catalog: Catalog, name: str, stakes: str) -> None:
    assert catalog.stakes_of(name) == stakes


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("obtain_token", True),
        ("validate_vat", True),
        ("get_or_create_customer", False),
        ("charge_order", False),
    ],
)
def test_a_function_whose_post_reads(catalog: Catalog, name: str, reads: bool) -> None:
    assert catalog.reads(name) is reads


@pytest.mark.parametrize(
    ("url", "harmless"),
    [
        ("https://partner.example.com/contacts/createOrUpdate", True),
        ("{}/transactions/createoradjust", True),
        ("{}/contacts/create", False),
        ("{}//convert", True),
        ("https://api.shop.com/v2/orders/search", True),
        ("https://search.shop.com/orders", False),
        ("{}/query?q=CREATE DATABASE orders", True),
        ("{}/api?action=search", True),
        ("{}/orders/create?lookup=1", False),
        ("https://{}:{}/orders-{}/_forcemerge", True),
        ("https://api.shop.com/refresh/orders", False),
        ("{}/v1/chat/completions", True),
        ("{}/convert/", True),
        ("https://api.shop.com/", False),
    ],
)
def test_the_address_of_a_post_that_may_be_repeated(catalog: Catalog, url: str, harmless: bool) -> None:
    assert catalog.harmless(url) is harmless


@pytest.mark.parametrize(
    ("url", "kind", "quiet"),
    [
        ("https://api.stripe.com/v1/charges", "payment", False),
        ("https://api.mailgun.net/v3/shop.com/messages", "message", False),
        ("https://api.telegram.org/bot/sendMessage", "chat", False),
        ("https://api.telegram.org/bot/editMessageText", "set", True),
        ("https://user:pw@hooks.slack.com:443/services/T/B", "chat", False),
        ("api.resend.com/emails", "message", False),
        ("api.resend.com:443/emails", "message", False),
        ("https://api.cloudflare.com/client/v4/zones/z/purge_cache", "http", True),
    ],
)
def test_well_known_addresses(catalog: Catalog, url: str, kind: str, quiet: bool) -> None:
    row = catalog.host(url)
    assert row is not None
    assert (row.kind, row.quiet) == (kind, quiet)
    assert row.does
    assert row.stakes


@pytest.mark.parametrize("url", ["https://api.shop.com/pay", "https:///v1/charges", "", "https://[broken/x"])
def test_an_address_nobody_knows(catalog: Catalog, url: str) -> None:
    assert catalog.host(url) is None


def test_models_with_a_row_for_each_run(catalog: Catalog) -> None:
    assert catalog.one_row_per_run("DeliveryAttempt")
    assert catalog.one_row_per_run("audit_log")
    assert not catalog.one_row_per_run("Catalog")
    assert not catalog.one_row_per_run("catalog")
    assert not catalog.one_row_per_run("Order")


# --- A user's own file -----------------------------------------------------------------------------------------------


def test_a_file_of_ones_own_adds_and_overrides(tmp_path: Path) -> None:
    text = (
        EFFECT
        + 'key = ["key"]\n[[effect]]\ncalls = ["stripe.Charge.create"]\nkind = "read"\nreplay = "natural"\n'
        + '[[same]]\nnames = ["shop.api"]\nof = "shop"\n'
    )
    catalog = with_file(tmp_path, text)
    own, stripe = catalog.effect("shop.api.charge"), catalog.effect("stripe.Charge.create")
    assert own is not None
    assert (own.title, own.stakes, own.does) == ("Shop", "money", "moves money")
    assert stripe is not None
    assert stripe.kind == "read"
    assert catalog.effect("stripe.Refund.create") is not None


def test_a_row_may_use_another_name_of_the_thing(tmp_path: Path) -> None:
    text = 'title = "x"\n[[effect]]\ncalls = ["redis.asyncio.Redis.my_*"]\nkind = "append"\nreplay = "repeats"\n'
    assert with_file(tmp_path, text).effect("redis.StrictRedis.my_push") is not None


def test_a_variant_takes_the_words_of_its_own_kind(tmp_path: Path) -> None:
    text = EFFECT + 'does = "bills"\n[[effect.when]]\nargument = ["dry"]\nkind = "read"\nreplay = "natural"\n'
    row = with_file(tmp_path, text).effect("shop.charge")
    assert row is not None
    assert (row.given({}).does, row.given({"dry": True}).does) == ("bills", "reads")
    assert row.given({"dry": True}).stakes == "internal"


WRONG = [
    ('titel = "x"', 'titel: unknown key; did you mean "title"?'),
    ("", "title: missing"),
    ("title = 3", "title: expected a string, found an integer"),
    ("title = [", "Invalid value"),
    (EFFECT.replace("payment", "paymnt"), "effect[0].kind: expected one of"),
    (EFFECT.replace("payment", "paymnt"), 'found "paymnt"; did you mean "payment"?'),
    (EFFECT.replace('kind = "payment"\n', ""), "effect[0].kind: missing"),
    (EFFECT + 'keys = ["x"]\n', 'effect[0].keys: unknown key; did you mean "key"?'),
    (EFFECT + 'key = "x"\n', "effect[0].key: expected a list, found a string"),
    (EFFECT + 'key = ["a b"]\n', 'effect[0].key[0]: "a b" is no argument'),
    (EFFECT.replace("shop.charge", "shop.{charge"), 'effect[0].calls[0]: "shop.{charge" has braces'),
    (EFFECT.replace('["shop.charge"]', "[]"), "effect[0].calls: empty"),
    (EFFECT + EFFECT.partition("\n")[2], 'effect[1].calls: "shop.charge" already stands in effect[0]'),
    (EFFECT + '[[effect.when]]\nkind = "read"\n', "effect[0].when[0].argument: missing"),
    (EFFECT + '[[effect.when]]\nargument = ["a"]\nmatches = "("\n', "effect[0].when[0].matches: not a regular"),
    (EFFECT + "[effect.http]\nverb = 'POST'\n", "effect[0].http.url: missing"),
    ('title = "x"\n[[role]]\ncalls = ["a.b"]\nrole = "atomic"\n', "role[0].role: expected one of"),
    ('title = "x"\n[[origin]]\ncalls = ["a.b"]\norigin = "clok"\n', 'found "clok"; did you mean "clock"?'),
    ('title = "x"\n[[returns]]\ncalls = ["a.b"]\ntype = "a.{b c}"\n', 'returns[0].type: "b c" is no argument'),
    ('title = "x"\n[[returns]]\ncalls = ["a.b"]\ntype = "a.*"\n', "returns[0].type: "),
    ('title = "x"\n[[same]]\nnames = ["a.*"]\nof = "b"\n', 'same[0].names: "a.*" has a wildcard'),
    ('title = "x"\n[[same]]\nnames = ["a"]\nof = "{b,c}"\n', 'same[0].of: "{b,c}" has braces'),
    ('title = "x"\n[[same]]\nnames = ["a"]\nof = "b"\n[[same]]\nnames = ["b"]\nof = "a.c"\n', "leads back to itself"),
    ('title = "x"\n[[method]]\nnames = ["go"]\ndoes = "enque"\n', 'did you mean "enqueue"?'),
    ('title = "x"\nunknown = "silent"\n', "unknown: expected one of quiet, unresolved"),
    (
        'title = "x"\n[kind.payment]\nstakes = "lots"\ndoes = "a"\nresult = "b"\n',
        "kind.payment.stakes: expected one of",
    ),
    ('title = "x"\n[kind.bribe]\nstakes = "money"\ndoes = "a"\nresult = "b"\n', "kind.bribe: "),
    ('title = "x"\n[words]\nmony = ["gold"]\n', 'words.mony: unknown key; did you mean "money"?'),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_entry_is_named(tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError) as raised:
        with_file(tmp_path, text)
    assert str(raised.value).startswith("own.toml:")
    assert message in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"missing\.toml: cannot be read"):
        load([tmp_path / "missing.toml"])
