"""What can go wrong in `./dev`, each told in one sentence."""


class DevError(Exception):
    """Base of the failures that end `./dev` with a sentence."""
