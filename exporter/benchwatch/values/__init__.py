"""TODO values."""
