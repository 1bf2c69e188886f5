"""The words a catalog file may use, each with what it means. The rest of the linter knows these words only."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "payment": "money is charged, refunded, paid out or billed",
    "provision": "something is created or ordered at a provider",
    "message": "mail or SMS to a person",
    "push": "a notification on a device",
    "chat": "a message in a chat",
    "http": "a request that writes, to whoever answers there",
    "publish": "a message to a broker",
    "object": "an object in an object store, under a name",
    "cache": "an entry of a cache",
    "increment": "a stored number changed by an amount",
    "append": "an entry added to a list, stream or text",
    "set": "a value stored over the old one",
    "delete": "something removed",
    "take": "something removed and given to whoever asked, so that a repeat gets another one, or none",
    "index": "a document in a search index",
    "enqueue": "a job started elsewhere",
    "file": "a file written",
    "read": "nothing changes",
}

REPLAYS: Mapping[str, str] = {
    "natural": "a repeat changes nothing more",
    "keyed": "a repeat counts again, unless a stable key is given",
    "repeats": "a repeat counts again",
}

STAKES: Mapping[str, str] = {
    "money": "money, stock, points or quota",
    "customer": "someone outside sees it",
    "internal": "only the operators see it",
}

ORIGINS: Mapping[str, str] = {
    "random": "chance: another value at each call",
    "clock": "the time of the call",
    "process": "the process, thread or host: another value in another worker",
    "arguments": "the arguments and the receiver, and nothing else",
    "constant": "the same for every task",
    "task-id": "the message: the same however often it is delivered",
    "attempt": "how often the message was delivered or tried",
}

ROLES: Mapping[str, str] = {
    "transaction": "opens a database transaction, as a context manager or decorator",
    "on-commit": "has its first callable called once the transaction commits",
    "commit": "ends the transaction and keeps its work",
    "rollback": "ends the transaction and drops its work",
    "session": "gives a session of its own, which opens a transaction when it is used and is closed at the block's end",
    "session-begin": "gives such a session with a transaction that commits at the end of the block",
    "connection": "gives a connection, which opens a transaction when it is used and commits it at the end of a block",
    "autocommit": "gives a connection where each statement commits alone, unless a transaction is begun",
    "cursor": "gives a cursor of the connection it is called on",
    "begin": "opens a transaction of the session it is called on, which commits at the end of the block",
    "nested": "opens a transaction of the connection it is called on, or a savepoint inside the one that is open",
    "savepoint": "opens a savepoint inside the transaction of the session it is called on, or of the process",
    "keep-savepoint": "ends the savepoint that the process opened last and keeps its work",
    "drop-savepoint": "ends the savepoint that the process opened last and drops its work",
    "flush": "sends what the session holds back to the database, without ending the transaction",
    "close": "ends the session's transaction and drops what was not committed",
    "non-atomic": "a decorator that takes a view out of the transaction around requests",
    "context-manager": "a decorator that makes a generator a context manager",
    "exit-stack": "a context manager that ends, at its end, what was entered in it",
    "enter-context": "enters the context manager it is given, to the end of the stack around it",
    "suppress": "a context manager that swallows the exceptions it is given",
    "null-context": "a context manager that does nothing",
    "partial": "gives a callable: the first argument with the rest bound",
    "apply": "calls the first argument with the items of the rest, or runs the coroutines it is given",
    "submit": "calls the first argument with the rest",
    "transparent": "a decorator or wrapper that gives what it is given, as far as effects go",
    "interface": "is derived from by classes that announce what others write",
    "implements": "a decorator that has a class write what the classes announce that it is given",
    "locate": "gives the object that is registered under the class it is given",
    "lazy": "stands for what the function it is given gives, once somebody looks",
    "import": "gives what stands at the path it is given as a text",
    "in-transaction": "is true while a transaction is open",
    "depends": "as a parameter's default: the framework passes what the function it is given gives",
    "wraps": "marks a wrapper as standing for the function it is given",
    "property": "a decorator that makes a method an attribute",
    "memory": "a decorator that remembers results in this process",
    "enumeration": "is derived from by classes whose attributes are values told apart, a label behind them or none",
    "enumerated": "gives a member of such a class a value that none of the others has",
    "user-model": "gives the project's own model of a user",
    "receiver": "a decorator that connects a function to signals",
    "connect": "connects the function it is given to the signal it is called on",
    "raw-sql": "runs the SQL text it is given first",
    "exit": "does not return",
    "log": "writes a log",
    "metric": "counts or measures",
    "alert": "tells the operators",
    "acquire": "takes the lock it is called on",
    "release": "gives back the lock it is called on",
    "retry": "a decorator that calls the function again when it fails",
    "again": "returned by a task, asks for another run",
    "harmless": "changes nothing outside",
    "contents": "gives what was put in, of whatever kind: a call further along its path counts as unresolved",
    "opaque": "may do anything: counts as unresolved",
}

MEANINGS: Mapping[str, str] = {
    "ambiguous": "the other side may or may not have acted",
    "refused": "the other side has not acted",
    "conflict": "a unique key is taken",
    "missing": "there is no such row",
    "retry": "the task is to run again",
    "ignore": "the task ends here and is done",
    "reject": "the message is given back to the queue",
    "duplicate": "the same job is already there",
}

AGAIN: Mapping[str, str] = {
    "any": "whatever runs the task again runs it too",
    "cut": "only what cuts the run: an error that the task raises does not",
    "sent": "only a second message",
}

GUARDS: Mapping[str, str] = {
    "claim": "the first caller wins and its mark stays",
    "lock": "one at a time, given back afterwards",
    "enqueue": "a second copy of a job is dropped while the first waits or runs",
    "once": "a decorator that remembers finished runs and does not run again",
}

SCOPES: Mapping[str, str] = {
    "durable": "every process sees the mark, and it is kept as a database keeps a row",
    "shared": "every process sees the mark, in a store that may be flushed",
    "process": "the mark is seen in one process",
}

OUTCOMES: Mapping[str, str] = {
    "truthy": "the call gives something true",
    "falsy": "the call gives something false",
    "entered": "the block is entered, no exception is raised",
}

SENDINGS: Mapping[str, str] = {
    "enqueue": "the task is sent",
    "signature": "the call of the task is built, not sent",
    "composition": "several calls of the task are built and tied together, not sent",
    "configure": "the same task or signature, with other options",
    "local": "the task runs here and now",
    "retry": "the message is sent again, under its own id",
    "result": "the task's result is looked at",
}
