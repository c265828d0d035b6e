# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=cpu --cpu-max-prime=3000 --max-requests=4000 run | (each stream a pipe) >cpu-0.4.12.out
# rc=0 start=1795441137.072497 end=1795441137.235736
