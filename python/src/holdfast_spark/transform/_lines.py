"""The Spark lines whose client of the state server, and whose server, this one was held against."""

LINES = frozenset({"4.2", "4.3"})
