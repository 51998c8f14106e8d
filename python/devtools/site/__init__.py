"""The documentation site, made of the pages that the repository has."""
