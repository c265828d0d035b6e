"""`benchwatch compare`: runs side by side, what changed, and how sure that is."""
