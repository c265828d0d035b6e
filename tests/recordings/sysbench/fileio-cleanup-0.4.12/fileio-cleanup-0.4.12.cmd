# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=fileio --file-total-size=32M --file-num=4 cleanup | (each stream a pipe) >fileio-cleanup-0.4.12.out
# rc=0 start=1795441143.587311 end=1795441143.606350
