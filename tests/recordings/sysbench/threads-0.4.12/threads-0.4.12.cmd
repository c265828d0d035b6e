# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=threads --num-threads=4 --max-requests=2000 run | (each stream a pipe) >threads-0.4.12.out
# rc=0 start=1795441138.521591 end=1795441139.973451
