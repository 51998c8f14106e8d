"""Stateful operators in real queries: Holdfast beside Spark's default provider."""
