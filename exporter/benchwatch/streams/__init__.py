"""How output comes in: files that grow, the layout of runs, and pushes over HTTP."""
