"""Stores beside the database: search indexes, object stores, tables in the cloud and files."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import findings

HEAD = """\
import boto3, uuid, datetime, time, json, shutil, os
from pathlib import Path
from celery import shared_task
from azure.storage.blob import BlobServiceClient
from elasticsearch import Elasticsearch, AsyncElasticsearch, helpers
from google.cloud import storage
from minio import Minio

gcs = storage.Client()
blobs = BlobServiceClient("http://blobs")
minio = Minio("http://minio")
es = Elasticsearch("http://es")
s3 = boto3.client("s3")
bucket = boto3.resource("s3").Bucket("x")
ddb = boto3.client("dynamodb")
table = boto3.resource("dynamodb").Table("orders")


"""
NOTES = {"silent-duplicate", "journal-never-purged"}


def said(folder: Path, body: str) -> list[str]:
    """The rules that speak of the task in `body`, notes that do not concern the data left out."""
    (folder / "app.py").write_text(HEAD + body)
    found = findings(folder, "--min-severity", "note", "--min-confidence", "low")
    return [finding["rule"] for finding in found if finding["rule"] not in NOTES]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    es.index(index="orders", document={"order": oid})
""",
            id="es-index",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(rows):
    helpers.bulk(es, [{"_index": "orders", "_source": row} for row in rows])
""",
            id="es-bulk",
        ),
        pytest.param(
            """
def actions(rows):
    for row in rows:
        yield {"_index": "orders", "_source": row}


@shared_task(acks_late=True)
def task(rows):
    for ok, _ in helpers.streaming_bulk(es, actions(rows)):
        print(ok)
""",
            id="es-bulk-of-a-generator",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(rows):
    actions = []
    for row in rows:
        actions.append({"_index": "orders", "_source": row})
    helpers.bulk(es, actions)
""",
            id="es-bulk-of-a-list-that-grew",
        ),
    ],
)
def test_create_without_unique_key_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["create-without-unique-key"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    es.index(index="orders", id=oid, document={"order": oid})
""",
            id="es-index-id",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    es.index(index="audit-logs", document={"order": oid})
""",
            id="es-index-log",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    es.create(index="orders", id=oid, document={"order": oid})
""",
            id="es-create",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    es.update(index="orders", id=oid, doc={"a": 1})
""",
            id="es-update",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(rows):
    helpers.bulk(es, [{"_index": "orders", "_id": r["id"], "_source": r} for r in rows])
""",
            id="es-bulk-id",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(rows):
    helpers.bulk(es, [{"_op_type": "delete", "_index": "orders", "_id": r} for r in rows])
""",
            id="es-bulk-delete",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(rows):
    helpers.bulk(es, rows)
""",
            id="es-bulk-of-what-was-handed-in",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(rows):
    helpers.bulk(es, ({**row, "_index": "orders"} for row in rows))
""",
            id="es-bulk-of-what-may-have-an-id",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(rows):
    helpers.bulk(es, [{"_index": "audit-logs", "_source": row} for row in rows])
""",
            id="es-bulk-log",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    s3.put_object(Bucket="b", Key=f"invoices/{oid}.pdf", Body=b"")
""",
            id="s3-fixed",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    name = datetime.datetime.now().isoformat()
    s3.upload_file("x", "b", f"reports/{oid}-{name}.csv")
""",
            id="s3-now",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    gcs.bucket("b").blob(f"invoices/{oid}.pdf").upload_from_string(b"")
    blobs.get_blob_client("b", f"invoices/{oid}.pdf").upload_blob(b"", overwrite=True)
    minio.put_object("b", f"invoices/{oid}.pdf", b"", 0)
""",
            id="other-stores-fixed",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid, key):
    s3.put_object(Bucket="b", Key=key, Body=b"")
""",
            id="s3-arg",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    table.put_item(Item={"pk": oid, "a": 1})
""",
            id="ddb-put",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid, n):
    table.update_item(Key={"pk": oid}, UpdateExpression="ADD views :n")
""",
            id="ddb-views",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid, n):
    table.update_item(Key={"pk": oid}, UpdateExpression="ADD balance :n SET st = :d", ConditionExpression="st = :new")
""",
            id="ddb-cond",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid, n):
    table.update_item(Key={"pk": oid}, UpdateExpression="SET balance = :n")
""",
            id="ddb-set",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    try:
        ddb.put_item(TableName="t", Item={"pk": {"S": oid}}, ConditionExpression="attribute_not_exists(pk)")
    except ddb.exceptions.ConditionalCheckFailedException:
        return
    import requests
    requests.post("https://api.x.test/a", json={}).raise_for_status()
""",
            id="ddb-claim",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    with open(f"/data/{oid}.csv", "w") as out:
        out.write("line")
""",
            id="open-w",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    with open("/data/x.log", "a") as out:
        out.write("line")
""",
            id="open-log",
        ),
    ],
)
def test_nothing_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    es.index(index="orders", id=str(uuid.uuid4()), document={"order": oid})
""",
            id="es-index-uuid",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    s3.put_object(Bucket="b", Key=f"invoices/{uuid.uuid4()}.pdf", Body=b"")
""",
            id="s3-uuid",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    bucket.upload_fileobj(open("x", "rb"), str(uuid.uuid4()))
""",
            id="s3-bucket",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    boto3.resource("s3").Object("b", f"x/{uuid.uuid4()}").put(Body=b"")
""",
            id="s3-Object",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    bucket.Object(f"x/{uuid.uuid4()}").put(Body=b"")
""",
            id="s3-bucket-Object",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    gcs.bucket("b").blob(f"x/{uuid.uuid4()}").upload_from_string(b"")
""",
            id="gcs-blob",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    blobs.get_blob_client("b", f"x/{uuid.uuid4()}").upload_blob(b"")
""",
            id="azure-blob",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    minio.put_object("b", f"x/{uuid.uuid4()}", b"", 0)
""",
            id="minio-object",
        ),
    ],
)
def test_unstable_idempotency_key_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["unstable-idempotency-key"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    es.update(index="orders", id=oid, script={"source": "ctx._source.balance += 1"})
""",
            id="es-script",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid, n):
    table.update_item(Key={"pk": oid}, UpdateExpression="ADD balance :n")
""",
            id="ddb-add",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid, n):
    table.update_item(Key={"pk": oid}, UpdateExpression="SET balance = balance + :n")
""",
            id="ddb-set-plus",
        ),
    ],
)
def test_unguarded_increment_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["unguarded-increment"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid, n):
    table.update_item(Key={"pk": oid}, UpdateExpression="SET items = list_append(items, :n)")
""",
            id="ddb-append",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    with open(f"/data/{oid}.csv", "a") as out:
        out.write("line")
""",
            id="open-a",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    with open("/data/x.csv", mode="a+", encoding="utf-8") as out:
        out.write("line")
""",
            id="open-a-mode",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    with Path("/data/x.csv").open("a") as out:
        out.write("line")
""",
            id="path-a",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(oid):
    p = Path("/data") / f"{oid}.csv"
    with p.open("a") as out:
        out.write("line")
""",
            id="path-join-a",
        ),
    ],
)
def test_append_on_replay_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["append-on-replay"]
