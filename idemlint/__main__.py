"""`python -m idemlint` is `idemlint`."""

from idemlint.cli import main

main()
