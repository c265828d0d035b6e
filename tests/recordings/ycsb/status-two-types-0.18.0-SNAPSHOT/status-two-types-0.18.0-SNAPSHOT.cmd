# tool: YCSB core d9faaac8 (0.18.0-SNAPSHOT, built from its source; Java 17)
java -cp ... site.ycsb.Client -db site.ycsb.BasicDB -t -p basicdb.verbose=false -p recordcount=1000 -p basicdb.simulatedelay=4 -p basicdb.randomizedelay=true -p readproportion=0.5 -p updateproportion=0.5 -p workload=site.ycsb.workloads.CoreWorkload -p status.interval=1 -threads 2 -s -p operationcount=4000 -p measurementtype=hdrhistogram+histogram >status-two-types-0.18.0-SNAPSHOT.out 2>status-two-types-0.18.0-SNAPSHOT.err
# rc=0 start=1795844778.871240 end=1795844782.565861
