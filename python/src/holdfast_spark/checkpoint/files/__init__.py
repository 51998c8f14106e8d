"""Names, logs, metadata and schemas of a checkpoint's files."""
