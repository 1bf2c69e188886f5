"""Redis and RabbitMQ, each on ports and in a folder of its own, for as long as tests need it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

# The limit of every wait for something that is to happen; it is no measure of how long it takes.
PATIENCE = 120.0
# Where Debian's package keeps the scripts that run as whoever calls them.
RABBITMQ = Path("/usr/lib/rabbitmq/bin")


def until(happened: Callable[[], object], what: str, told: Callable[[], str] = str) -> None:
    """Waits until something has happened, and fails when it takes too long; `told` is what else to say then."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            pytest.fail(f"never happened: {what}\n{told()}")
        time.sleep(0.05)


@dataclass(frozen=True)
class Redis:
    port: int

    @property
    def url(self) -> str:
        return f"redis://localhost:{self.port}/0"

    def ask(self, *command: str) -> str:
        """What Redis answers to a command."""
        return _ran("redis-cli", "-p", str(self.port), *command).strip()


@dataclass(frozen=True)
class Rabbit:
    port: int
    environ: Mapping[str, str]

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@localhost:{self.port}//"

    def held(self) -> int:
        """How many messages it keeps, handed out or not."""
        return sum(int(line) for line in self.control("list_queues", "--silent", "messages").split())

    def control(self, *command: str) -> str:
        """What its own program for such things answers."""
        return _ran(str(RABBITMQ / "rabbitmqctl"), *command, environ=self.environ)


def redis() -> Iterator[Redis]:
    """A Redis that writes nothing to disk."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: run .ci/brokers")
    port = _free_port()
    with _folder() as folder:
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        with running(command, folder / "log", folder):
            until(
                lambda: "Ready to accept" in (folder / "log").read_text(), "Redis is ready", (folder / "log").read_text
            )
            yield Redis(port)


def rabbit() -> Iterator[Rabbit]:
    """A RabbitMQ, and the daemon by which Erlang's nodes find each other."""
    if not (RABBITMQ / "rabbitmq-server").exists():
        pytest.skip("rabbitmq-server is not installed: run .ci/brokers")
    port, between, finding = _free_port(), _free_port(), _free_port()
    with _folder() as folder:
        (folder / "rabbitmq.conf").write_text(f"listeners.tcp.local = 127.0.0.1:{port}\n")
        (folder / "advanced.config").write_text(
            # Timeouts are looked at once a minute if nobody says otherwise.
            "[{rabbit, [{channel_tick_interval, 500}]}, {kernel, [{inet_dist_use_interface, {127, 0, 0, 1}}]}].\n"
        )
        (folder / "plugins").write_text("[].\n")
        environ = {
            **os.environ,
            # The secret that its programs share is there.
            "HOME": str(folder),
            "ERL_EPMD_PORT": str(finding),
            "RABBITMQ_NODENAME": f"idemlint{port}@localhost",
            "RABBITMQ_DIST_PORT": str(between),
            "RABBITMQ_MNESIA_BASE": str(folder / "db"),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced.config"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
        }
        finder = ["epmd", "-port", str(finding), "-address", "127.0.0.1"]
        log = folder / "log"
        with (
            running(finder, folder / "epmd", folder),
            running([str(RABBITMQ / "rabbitmq-server")], log, folder, environ),
        ):
            until(lambda: "started TCP listener" in log.read_text(), "RabbitMQ is ready", log.read_text)
            yield Rabbit(port, environ)


@contextmanager
def running(
    command: Sequence[str], log: Path, folder: Path, environ: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program and all that it starts, ended when nobody needs it any more."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kills a program and all that it started, as the kernel does that is short of memory."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="idemlint-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


def _ran(*command: str, environ: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
