# tool: vdbench50406 (built from its published source; Java 17)
vdbench -f filesystem-getattr.parm -o output >filesystem-getattr-50406.out 2>&1
# rc=0 start=1795846230.203702 end=1795846240.655781
