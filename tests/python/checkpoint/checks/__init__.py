"""Tests of holdfast_spark.checkpoint.checks."""
