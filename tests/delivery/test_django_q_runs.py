"""django-q2 on its database broker: a task that fails, and one that takes longer than `retry`."""

from __future__ import annotations

from pathlib import Path

from trial import again, trial

SETTINGS = """
SECRET_KEY = "x"
INSTALLED_APPS = ["django_q"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3", "OPTIONS": {"timeout": 60}}}
USE_TZ = True
Q_CLUSTER = {
    "orm": "default",
    "workers": 4,
    "retry": 3,
    "timeout": 600,
    "max_attempts": 2,
    "poll": 0.2,
}
"""

MANAGE = """
import os
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
execute_from_command_line(sys.argv)
"""

SHOP = """
from django_q.tasks import async_task

import runs


def fails():
    runs.begin("fails")
    raise OSError


def outlasts():
    runs.hold("outlasts")


def place():
    async_task(fails)
    async_task(outlasts)
"""


SETUP = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'settings'; django.setup(); "


def test_tasks_run_again_after_the_lease_as_often_as_is_said(tmp_path: Path) -> None:
    files = {"settings.py": SETTINGS, "manage.py": MANAGE, "shop.py": SHOP}
    with trial(tmp_path, files, "django-admin") as at:
        at.do(f"{SETUP}from django.core.management import call_command; call_command('migrate', verbosity=0)")
        at.do(f"{SETUP}import shop; shop.place()")
        at.start("python", "manage.py", "qcluster")
        said = at.said()
        at.ran("outlasts", 2)
        at.release("outlasts")
        assert said["outlasts"].outruns_lease

        times = again(said["fails"], "retry", stop=9)
        at.ran("fails", times + 1)
        # Warnings come before what is printed.
        left = f"{SETUP}from django_q.models import OrmQ; print(OrmQ.objects.count())"
        at.until(lambda: at.do(left).split()[-1] == "0", "nothing is left in the queue")
        assert len(at.runs("fails")) - 1 == times
