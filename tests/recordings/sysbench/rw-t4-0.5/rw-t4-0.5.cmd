# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=oltp.lua --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbtest --oltp-table-size=10000 --oltp-tables-count=2 --num-threads=4 --max-time=5 --max-requests=0 --report-interval=1 run | (each stream a pipe) >rw-t4-0.5.out
# rc=0 start=1795441149.248085 end=1795441154.657584
