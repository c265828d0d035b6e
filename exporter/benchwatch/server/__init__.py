"""TODO server."""
