"""Whatever alters a checkpoint, or makes another one of it."""
