"""`benchwatch watch`: what an exporter shows, live in the terminal."""
