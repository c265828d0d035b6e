# tool: sysbench 0.5, built from branch 0.5 as of 2017-01; server PostgreSQL 15.18, trust
sysbench --test=threads --num-threads=4 --max-requests=2000 run | (each stream a pipe) >threads-0.5.out
# rc=0 start=1795441181.202191 end=1795441185.543819
