"""`benchwatch run`: starts a benchmark, passes its output on untouched and records it into the run's folder."""
