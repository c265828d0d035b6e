# tool: vdbench50406 (built from its published source; Java 17)
vdbench -f no-duplicate-rd.parm -o output >no-duplicate-rd-50406.out 2>no-duplicate-rd-50406.err
# rc=157 start=1795846240.729872 end=1795846243.151284
