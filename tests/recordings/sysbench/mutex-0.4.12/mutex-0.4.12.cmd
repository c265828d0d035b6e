# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=mutex --num-threads=4 --mutex-locks=20000 run | (each stream a pipe) >mutex-0.4.12.out
# rc=0 start=1795441140.084543 end=1795441140.220941
