"""Damages checkpoints at random and holds what `verify` says against what Spark then does."""
