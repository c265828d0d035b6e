"""`benchwatch report`: runs as one HTML file with plots, tables and everything in it, for reading and passing on."""
