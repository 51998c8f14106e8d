"""The state client of `transformWithState` in Python that asks for many keys at once.

Spark's client sends one request for each state call and waits for its answer. This one speaks to a
server in Holdfast's jar that answers for many keys at once (`TransformInBulk` puts it in the place
of Spark's where a query's function brings this client):

- What a handler is certain to ask, because it asked it for the keys before, is asked for up to 512
  keys in one request, while the handlers of the keys before them run.
- What needs no answer (update, append, put, remove, clear, timers) is sent in one request for as
  many keys, or before the next request that is waited for.

What a user's `StatefulProcessor` sees is as Spark has it. `holdfast_spark.configure` puts it in
place where it is asked to, for the Spark lines in `_lines`; others keep Spark's client, and so does
a task whose server is Spark's: that of a batch with initial state, and of a query that is no
stream.

The modules here run in Python workers, also where this package is not installed: they travel by
value with the user's processor. So they import pyspark, what pyspark needs, and each other.
"""
