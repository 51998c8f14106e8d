"""A query in a standalone cluster whose parts die, stop, are slow, and come and go."""
