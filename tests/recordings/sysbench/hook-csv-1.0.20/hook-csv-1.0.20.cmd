# tool: sysbench 1.0.20 (Debian bookworm package 1.0.20+ds-5; server PostgreSQL 15.18, trust); csv.lua: sysbench.hooks.report_intermediate = sysbench.report_csv
sysbench csv.lua --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbt1 --table-size=2000 --threads=4 --time=4 --report-interval=1 run | (each stream a pipe) >hook-csv-1.0.20.out
# rc=0 start=1795441476.960731 end=1795441481.037456
