# TPROC-C for one minute on the database tpcc1: hammerdbcli tcl auto hammerdb.tcl
dbset db pg
diset connection pg_host 127.0.0.1
diset tpcc pg_dbase tpcc1
diset tpcc pg_driver timed
diset tpcc pg_rampup 0
diset tpcc pg_duration 1
diset tpcc pg_timeprofile true
loadscript
vuset vu 1
tcset refreshrate 5
vucreate
tcstart
vurun
after 75000 {set done 1}
vwait done
tcstop
vudestroy
