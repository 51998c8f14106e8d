"""Checkpoints that go from one Spark line to another, each with a query of its operator."""
