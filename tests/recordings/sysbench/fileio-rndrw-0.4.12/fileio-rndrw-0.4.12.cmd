# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=fileio --file-total-size=32M --file-num=4 --file-test-mode=rndrw --max-time=3 --max-requests=0 --num-threads=2 run | (each stream a pipe) >fileio-rndrw-0.4.12.out
# rc=0 start=1795441140.471721 end=1795441143.477234
