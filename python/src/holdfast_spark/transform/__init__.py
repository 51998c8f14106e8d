"""The state client of `transformWithState` in Python that does not wait where nothing is asked.

Spark's client sends one request for each state call and waits for its answer. The server of the
task answers requests in the order in which they come, so a client may send on. This one does:

- What needs no answer (set the key, update, append, put, remove, clear, timers) is sent along
  with the next read, and its answer is looked at before that of the read.
- What a handler is certain to ask, because it asked it for the keys before, is asked for many keys
  at once, where the rows of many keys are at hand.

What a user's `StatefulProcessor` sees is as Spark has it. `holdfast_spark.configure` puts it in
place where it is asked to, for the Spark lines in `_lines`; others keep Spark's client.

The modules here run in Python workers, also where this package is not installed: they travel by
value with the user's processor. So they import pyspark, what pyspark needs, and each other.
"""
