"""Data layers: what each says of its models and of the calls on them, in the words of `program`."""

from idemlint.orm import django

LAYERS = {django.LAYER: django}
