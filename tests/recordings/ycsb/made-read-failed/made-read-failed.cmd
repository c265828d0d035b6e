# Not recorded: written after core/src/main/java/site/ycsb/StatusThread.java and Measurements.java, as a database whose reads fail prints it
ycsb run jdbc -P workloads/workloada -s -p status.interval=1 -threads 2 -target 200
# rc=0 start=1795335000.0 end=1795335003.2
