# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=memory --memory-total-size=4G --num-threads=2 run | (each stream a pipe) >memory-0.4.12.out
# rc=0 start=1795441137.364537 end=1795441138.355204
