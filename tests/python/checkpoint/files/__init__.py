"""Tests of holdfast_spark.checkpoint.files."""
