"""Bytes to text and back, the way Python reads its source files (PEP 263)."""

from __future__ import annotations

import re
from pathlib import Path

from idemlint.project.errors import UnreadableFile

_BOM = b"\xef\xbb\xbf"
_NEWLINE = re.compile(rb"\r\n?|\n")
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?")


def read_optional(folder: Path, path: str) -> str | None:
    """The text of the UTF-8 file `path` in `folder`, None if there is none. UnreadableFile if it is not text."""
    try:
        return (folder / path).read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise UnreadableFile(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise _undecodable(path, "utf-8", error) from None


def decoded(path: str, data: bytes) -> str:
    """The text of the source file `path`, without a byte order mark and with its newlines as they are.

    UnreadableFile if it is not in the encoding it claims.
    """
    codec, line = _encoding(path, data)
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        raise _undecodable(path, codec.removesuffix("-sig"), error) from None
    except (LookupError, UnicodeError):
        raise UnreadableFile(path, f"unknown encoding: {codec}", line) from None


def encoded(path: str, data: bytes, text: str) -> bytes:
    """`text` as the bytes to write into the source file `path`, which holds `data`: in its encoding, with its byte
    order mark if it has one."""
    return text.encode(_encoding(path, data)[0])


def _encoding(path: str, data: bytes) -> tuple[str, int]:
    """The codec of a source file and the line that names it."""
    marked = data.startswith(_BOM)
    for number, line in enumerate(_NEWLINE.split(data.removeprefix(_BOM), 2)[:2], 1):
        cookie = _COOKIE.match(line)
        if cookie:
            codec = _codec(cookie[1].decode("ascii"))
            if marked and codec != "utf-8":
                raise UnreadableFile(path, f"a UTF-8 byte order mark, but the encoding is said to be {codec}", number)
            return ("utf-8-sig" if marked else codec), number
        if not _BLANK.fullmatch(line):
            break
    return ("utf-8-sig" if marked else "utf-8"), 1


def _codec(name: str) -> str:
    """The name of a codec as Python's own tokenizer takes it: Emacs writes `utf-8-unix`."""
    plain = name.lower().replace("_", "-")
    if f"{plain}-".startswith("utf-8-"):
        return "utf-8"
    return "iso-8859-1" if f"{plain}-".startswith(("latin-1-", "iso-8859-1-", "iso-latin-1-")) else name


def _undecodable(path: str, codec: str, error: UnicodeDecodeError) -> UnreadableFile:
    before = _NEWLINE.split(error.object[: error.start])
    column = len(before[-1].decode(codec, "replace")) + 1
    return UnreadableFile(path, f"byte 0x{error.object[error.start]:02x} is not {codec}", len(before), column)
