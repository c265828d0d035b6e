# tool: sysbench 0.4.12, built from branch 0.4 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=oltp --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27439 --max-time=5 --report-interval=1 run | (each stream a pipe) >refused-0.4.12.out
# rc=1 start=1795441149.018391 end=1795441149.031025
