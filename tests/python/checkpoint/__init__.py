"""Tests of holdfast.checkpoint."""
