pgbench -T 20 -P 1 --progress-timestamp -l -r -R 50 -L 100 --max-tries=2 -c 2 -j 1 --log-prefix=db1 bench >stdout 2>stderr
