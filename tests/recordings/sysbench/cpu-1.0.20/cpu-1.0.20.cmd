# tool: sysbench 1.0.20 (Debian bookworm package 1.0.20+ds-5; server PostgreSQL 15, trust)
sysbench cpu --threads=2 --time=3 --report-interval=1 --percentile=99 --histogram=on run 2>&1 | (a pipe) >cpu-1.0.20.out
# rc=0 start=1795348194.871451 end=1795348197.899178
