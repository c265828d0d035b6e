# tool: sysbench 0.5, built from its source as of 2013-03; server PostgreSQL 15.18, trust
sysbench --test=/tmp/sb05e/sysbench/tests/db/oltp.lua --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbtest --oltp-table-size=10000 --oltp-tables-count=2 --num-threads=4 --max-time=4 --max-requests=0 --report-interval=1 --percentile=99 run | (each stream a pipe) >rw-t4-early-0.5.out
# rc=1 start=1795441154.799096 end=1795441157.372003
