"""The Grafana dashboards of benchwatch, as Classic JSON.

One module a dashboard; `queries` and `panels` are what they are made of, `board` is the frame that they share.
"""
