# tool: HammerDB 4.12 (release tag, run with Tcl 8.6, Pgtcl 2.7.7 of Debian bookworm; server PostgreSQL 15.18)
hammerdbcli tcl auto timed-profile.tcl | (each stream a pipe) >timed-profile-4.12.out 2>timed-profile-4.12.err
# rc=0 start=1795334905.588067 end=1795334941.805082
# its .err is hdbxtprofile.log, the time profile
