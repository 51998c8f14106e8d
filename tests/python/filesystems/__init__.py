"""What file systems do with checkpoint files, by Spark's file managers and Holdfast's."""
