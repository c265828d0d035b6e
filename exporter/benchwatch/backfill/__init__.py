"""TODO backfill."""
