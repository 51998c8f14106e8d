"""A page about a checkpoint, with plots."""
