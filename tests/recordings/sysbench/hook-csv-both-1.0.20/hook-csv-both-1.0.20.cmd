# tool: sysbench 1.0.20 (Debian bookworm package 1.0.20+ds-5; server PostgreSQL 15.18, trust); csv_both.lua: sysbench.report_csv as hook of report_intermediate and report_cumulative
sysbench csv_both.lua --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=27431 --pgsql-user=postgres --pgsql-db=sbt1 --table-size=2000 --threads=4 --time=3 --report-interval=1 run | (each stream a pipe) >hook-csv-both-1.0.20.out
# rc=0 start=1795441484.935371 end=1795441487.992245
