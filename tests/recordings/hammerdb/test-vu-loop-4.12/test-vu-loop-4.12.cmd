# tool: HammerDB 4.12 (release tag, run with Tcl 8.6, Pgtcl 2.7.7 of Debian bookworm; server PostgreSQL 15.18)
hammerdbcli tcl auto test-vu-loop.tcl >test-vu-loop-4.12.out 2>&1
# rc=0 start=1795845488.098306 end=1795845510.056165
