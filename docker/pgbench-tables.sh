# Run by PostgreSQL's image, once, when it makes its cluster.
pgbench --initialize --quiet --scale=4 --username="$POSTGRES_USER" "$POSTGRES_DB"
