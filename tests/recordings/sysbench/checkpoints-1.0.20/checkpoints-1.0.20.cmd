# tool: sysbench 1.0.20 (Debian bookworm package 1.0.20+ds-5; server PostgreSQL 15, trust)
sysbench oltp_read_write --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=53275 --pgsql-user=postgres --pgsql-db=sbtest --tables=2 --table-size=20000 --threads=2 --time=6 --report-interval=1 --percentile=99 --report-checkpoints=2,5 run 2>&1 | (a pipe) >checkpoints-1.0.20.out
# rc=0 start=1795346619.150597 end=1795346625.201276
