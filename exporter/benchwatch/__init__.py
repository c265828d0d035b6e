"""benchwatch shows a database or storage benchmark while it runs, as Prometheus metrics."""

import os

# numpy's linear algebra, which nothing here uses, would start a thread for each further CPU: each takes memory, and
# signals away from the launcher, which waits for them in its only thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
