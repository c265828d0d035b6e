# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=memory --memory-total-size=6G --memory-block-size=1K --num-threads=2 --report-interval=1 run | (each stream a pipe) >memory-0.5.out
# rc=0 start=1795441176.058663 end=1795441177.763965
