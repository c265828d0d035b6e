# tool: sysbench 0.4.12, built from branch 0.4 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=oltp --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbtest4 --oltp-table-size=10000 --num-threads=4 --max-time=5 --max-requests=0 --report-interval=1 --percentile=99 run | (each stream a pipe) >oltp-t4-interval-p99-0.4.12.out
# rc=0 start=1795441143.709873 end=1795441148.797426
