"""TODO metrics."""
