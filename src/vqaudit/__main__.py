"""`python -m vqaudit`."""

from vqaudit.cli import main

main()
