# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=cpu --cpu-max-prime=3000 --max-requests=0 --max-time=3 --report-interval=1 run | (each stream a pipe) >cpu-0.5.out
# rc=0 start=1795441177.954214 end=1795441180.984195
