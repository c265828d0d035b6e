# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=fileio --file-total-size=32M --file-num=4 --file-test-mode=rndrw --max-time=4 --max-requests=0 --num-threads=2 --report-interval=1 run | (each stream a pipe) >fileio-rndrw-0.5.out
# rc=0 start=1795441171.828168 end=1795441175.841667
