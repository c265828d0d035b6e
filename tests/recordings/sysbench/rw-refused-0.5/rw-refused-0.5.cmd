# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=oltp.lua --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27439 --max-time=5 --report-interval=1 run | (each stream a pipe) >rw-refused-0.5.out
# rc=1 start=1795441170.954113 end=1795441170.970992
