"""How long a query that counts as stopped has written nothing, unless the user says otherwise."""

from datetime import timedelta

SETTLED = timedelta(seconds=60)
