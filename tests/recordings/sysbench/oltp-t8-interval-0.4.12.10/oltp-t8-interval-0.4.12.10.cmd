# tool: none; written after the form that public outputs of sysbench 0.4.12.10 (MySQL's own source) have, with figures of our own making
sysbench --test=oltp --db-driver=mysql --oltp-table-size=100000 --num-threads=8 --max-time=30 --max-requests=0 --report-interval=10 --percentile=99 run
# rc=0
