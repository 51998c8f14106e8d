"""Tests of holdfast_spark.checkpoint.changes."""
