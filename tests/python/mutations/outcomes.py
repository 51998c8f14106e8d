"""Words that both sides of the search use."""

HANGS = "it hangs"
