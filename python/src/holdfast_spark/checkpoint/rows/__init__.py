"""Bytes of state files: records, rows, their codecs, hashes and columns."""
