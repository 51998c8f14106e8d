"""The version of the project: the wheel and the jars take it from here."""

__version__ = "0.1.0"
