# SPDX-License-Identifier: MIT
# info lists what there is; names depend on the machine, labels do not.
. "$CASES/helpers.sh"
run info >seen
sed -n '1p; 2,$s/^\([a-z ]\{11\}\) .*/\1/p' seen | sed 's/ *$//'
grep -c '^cpu levels  scalar' seen
grep -c '^strategies .*reference' seen
run info --threads 3 --cpu scalar | grep -e threads -e used
POOLGRAD_CPU=scalar run info | grep used
OMP_NUM_THREADS=1 run info | grep threads
