# tool: pgbench 15.18 (Debian)
pgbench -Q postgres 2>invalid-option-15.18.err
