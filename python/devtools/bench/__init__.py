"""`./dev bench`: Holdfast beside Spark's providers, in one run."""
