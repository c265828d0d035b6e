# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=fileio --file-total-size=32M --file-num=4 prepare | (each stream a pipe) >fileio-prepare-0.5.out
# rc=0 start=1795441171.231036 end=1795441171.282315
