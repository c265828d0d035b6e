dbset db pg
dbset bm TPC-C
diset connection pg_host 127.0.0.1
diset connection pg_port 24432
diset connection pg_sslmode disable
diset tpcc pg_superuser postgres
diset tpcc pg_superuserpass x
diset tpcc pg_defaultdbase postgres
diset tpcc pg_user tpcc
diset tpcc pg_pass tpcc
diset tpcc pg_dbase tpcc
diset tpcc pg_driver timed
diset tpcc pg_async_scale false
diset tpcc pg_keyandthink false
diset tpcc pg_rampup 0
diset tpcc pg_duration 0.1
diset tpcc pg_total_iterations 1000000
tcset refreshrate 1
foreach z {1 2} {
loadscript
vuset vu $z
vucreate
tcstart
vurun
set done 0
after 8500 {set done 1}
vwait done
tcstop
vudestroy
}
