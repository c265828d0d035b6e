"""`benchwatch run`: starts a benchmark, passes its output on untouched and records both in the run's folder.

It never makes the benchmark wait, and never changes an option that the user gave. What it shows comes from the files
that it writes: `runs` reads them while the benchmark runs, `results` afterwards.
"""
