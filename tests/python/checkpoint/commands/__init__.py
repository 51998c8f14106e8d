"""Tests of the commands about checkpoints."""
