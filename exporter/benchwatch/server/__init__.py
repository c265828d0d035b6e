"""`benchwatch serve`: the HTTP server with /metrics, the landing page and /ingest, TLS, users and bounds on clients.

It parses no output of a benchmark or a CVM (`tools` and `nutanix` do), and no other room imports it.
"""
