"""`benchwatch backfill`: writes past runs as OpenMetrics text or Prometheus blocks, with their own times.

Names, labels and values come from `history`; nothing is invented, renamed or rounded here.
"""
