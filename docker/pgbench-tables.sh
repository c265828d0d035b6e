# PostgreSQL's image runs this once, when it creates its cluster.
pgbench --initialize --quiet --scale=4 --username="$POSTGRES_USER" "$POSTGRES_DB"
