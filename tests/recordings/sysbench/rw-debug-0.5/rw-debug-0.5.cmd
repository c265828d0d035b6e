# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=oltp.lua --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbtest --oltp-table-size=10000 --oltp-tables-count=2 --num-threads=2 --max-time=2 --max-requests=0 --report-interval=1 --debug=on --verbosity=5 run | (each stream a pipe) >rw-debug-0.5.out
# rc=0 start=1795441189.043128 end=1795441191.062557
