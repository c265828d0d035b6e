# tool: sysbench 0.4.12, built from its source as of 2010-04 (the release; --report-interval does not exist); server PostgreSQL 15.18, trust
sysbench --test=fileio --file-total-size=32M --file-num=4 prepare | (each stream a pipe) >fileio-prepare-0.4.12.out
# rc=0 start=1795441140.324879 end=1795441140.372052
