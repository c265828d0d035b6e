# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=oltp --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbtest4 --oltp-table-size=10000 --num-threads=4 --max-time=4 --max-requests=0 run | (each stream a pipe) >oltp-t4-0.4.12.out
# rc=0 start=1795441132.837903 end=1795441136.928474
