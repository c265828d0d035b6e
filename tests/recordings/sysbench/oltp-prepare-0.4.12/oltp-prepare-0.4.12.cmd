# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=oltp --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbtest4 --oltp-table-size=10000 prepare | (each stream a pipe) >oltp-prepare-0.4.12.out
# rc=0 start=1795441131.776476 end=1795441132.620721
