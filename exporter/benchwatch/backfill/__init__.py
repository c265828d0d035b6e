"""`benchwatch backfill`: writes past runs as OpenMetrics text or Prometheus blocks, with their own times.

Names, labels and values come from `history`; it never invents, renames or rounds any.
"""
