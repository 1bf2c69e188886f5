"""A copy of this process that works beside it, on a function whose results are plain values.

What it finds is a help, never a need: where it is slow, ends early or cannot be had, whoever asks it works the same
values out for himself. So nothing depends on whether there is one.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from typing import Any

_LENGTH = struct.Struct("=Q")
_AT_ONCE = 1 << 20


class Beside:
    """Values that a copy of this process works out from now on, under their keys, until it is done or closed.

    Nothing waits for it: what it has written is read when somebody asks for a value. Where processes cannot be copied
    (no `fork`, or other threads run, which would be missing in the copy) no value ever comes.
    """

    def __init__(self, work: Iterable[tuple[Hashable, object]]) -> None:
        self._found: dict[Hashable, bytes] = {}
        self._rest = b""
        self._process = 0
        if not hasattr(os, "fork") or threading.active_count() > 1:
            return
        self._pipe, answers = os.pipe()
        try:
            self._process = os.fork()
        except OSError:
            os.close(self._pipe)
        else:
            if self._process == 0:
                _serve(work, answers)
            os.set_blocking(self._pipe, False)
        os.close(answers)

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        """End the other process, whatever it is doing."""
        if self._process:
            os.close(self._pipe)
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
            self._process = 0

    def take(self, key: Hashable) -> Any:
        """The value that has come under a key by now, None where there is none."""
        if key not in self._found:
            self._keep(b"".join((self._rest, *self._come())))
        found = self._found.get(key)
        return pickle.loads(found) if found is not None else None

    def _come(self) -> Iterator[bytes]:
        """What can be read at this moment."""
        with suppress(BlockingIOError):
            while self._process and (part := os.read(self._pipe, _AT_ONCE)):
                yield part

    def _keep(self, came: bytes) -> None:
        """Take the answers that are there whole."""
        at = 0
        while (start := at + _LENGTH.size) <= len(came):
            end = start + _LENGTH.unpack_from(came, at)[0]
            if end > len(came):
                break
            key, value = pickle.loads(came[start:end])
            self._found[key] = value
            at = end
        self._rest = came[at:]


def _serve(work: Iterable[tuple[Hashable, object]], answers: int) -> None:
    """Be the other process. It must not go on with what this one was doing, nor write what waits in its buffers."""
    try:
        with open(answers, "wb") as pipe:
            for key, value in work:
                answer = pickle.dumps((key, pickle.dumps(value, pickle.HIGHEST_PROTOCOL)))
                pipe.write(_LENGTH.pack(len(answer)) + answer)
                pipe.flush()
    finally:
        os._exit(0)
