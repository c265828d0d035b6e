"""`benchwatch run` starts a benchmark, passes its output on unchanged and records it in the run's folder.
`benchwatch push` sends recorded runs to an exporter elsewhere.

`run` never makes the benchmark wait, and never changes an option that the user gave. What it shows comes from the files
that it writes: `runs` reads them while the benchmark runs, `results` afterwards.
"""
