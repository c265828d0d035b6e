"""benchwatch shows a database or storage benchmark while it runs, as Prometheus metrics.

Apart from the command's entry (`cli`), every module lives in a package, and packages import only those below them:
see docs/architecture.md.
"""

import os

# numpy's linear algebra, which nothing here uses, would start a thread per additional CPU. These take memory, and they
# would receive signals that the launcher waits for in its only thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
