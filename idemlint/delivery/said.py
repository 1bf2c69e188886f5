"""What options and settings say about a task: the word that counts, its place, and how the author wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from idemlint.link.values import Known, Made, Reference, Unknown, Value
from idemlint.program import NOTHING, Setting, Site


@dataclass(frozen=True, slots=True)
class Said:
    """A value, and the option or setting that gives it (`site` None and `written` empty: the framework's default)."""

    value: Value
    written: str = ""
    site: Site | None = None

    @property
    def text(self) -> str:
        """`acks_late=True`, and which variable it is the default of."""
        variable = f" (the default of {self.value.environment})" if self.value.environment else ""
        return f"{self.written}={shown(self.value)}{variable}"


def from_setting(setting: Setting) -> Said:
    """What a setting says."""
    if setting.known:
        return Said(Known(setting.value, setting.environment), setting.written, setting.site)
    start = setting.value if isinstance(setting.value, str) else ""
    made = setting.value if isinstance(setting.value, Made) else None
    return Said(Unknown(setting.reason, start, setting.environment, made=made), setting.written, setting.site)


def in_force(settings: Iterable[Setting], framework: str, app: str | None) -> Mapping[str, Setting]:
    """The settings that a task of this app reads, by name. A task whose app is not known may belong to any: what the
    apps do not agree on is unknown. `*` are sources that could not be read."""
    known = [setting for setting in settings if setting.framework == framework and not setting.ignored]
    apps = sorted({setting.app for setting in known if setting.app is not None})
    ours = [setting for setting in known if setting.name != NOTHING]
    if app in apps or len(apps) <= 1:
        return {
            setting.name: setting
            for setting in ours
            if setting.app in (None, app if app in apps else apps[0] if apps else None)
        }
    found: dict[str, Setting] = {}
    for name in dict.fromkeys(setting.name for setting in ours):
        same = [setting for setting in ours if setting.name == name]
        first = same[0]
        agreed = all((other.known, other.value) == (first.known, first.value) for other in same)
        if agreed and (first.app is None or len(same) == len(apps)):
            found[name] = first
        else:
            reason = f"the apps {', '.join(apps)} do not agree on {name}"
            found[name] = replace(first, value=None, known=False, reason=reason, environment=None)
    return found


def shown(value: Value) -> str:
    """A value as code would write it, things by their last name."""
    return "..." if isinstance(value, Unknown) else _shown(value.value)


def _shown(value: object) -> str:
    if isinstance(value, Reference):
        return value.name
    if isinstance(value, Unknown):
        return "..."
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return (
            f"{{{', '.join('...' if key is ... else f'{_shown(key)}: {_shown(each)}' for key, each in value.items())}}}"
        )
    return f'"{value}"' if isinstance(value, str) else repr(value)
