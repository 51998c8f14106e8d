"""Numbers, and what other libraries say, as people read them."""


def size_text(size: int) -> str:
    """Return a size for people."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:  # noqa: PLR2004 - the next unit
            break
        amount, unit = amount / 1024, larger
    return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"


def cause_text(error: BaseException) -> str:
    """Return what another library's error says, to be put into a sentence of ours.

    That is its first line without the full stop that some end with, or its class if it says
    nothing; of an error of the operating system what is wrong, without number and path.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.rstrip(".")
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(" .:") if lines else type(error).__name__
