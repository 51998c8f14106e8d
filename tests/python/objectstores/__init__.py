"""A query on executor processes, whose checkpoint is in a store of objects that misbehaves."""
