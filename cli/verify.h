/* SPDX-License-Identifier: MIT */
/*
 * One problem on this machine against both oracles.
 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "cli.h"

typedef struct cli_verdict {
    int runs;       /* strategy x instruction set x threads x data that were compared */
    int strategies; /* that accept the problem */
    int cpus;
    int scattered;     /* 1 if the naive oracle was affordable */
    double worst;      /* largest error against it, as a part of the allowed one; 0 where it must be
                          exact */
    char failure[512]; /* what differed first; empty if nothing did */
} cli_verdict;

/* Whether the naive oracle's result must be met exactly: for max, unless parity is asked for. */
int cli_verify_exact(const poolgrad_desc *desc);

/*
 * With uniform, with special data (NaN, infinities, denormals, -0) and, for max, with many ties:
 * every strategy that accepts the problem, on every instruction set (only `cpu` if not NULL), with
 * 1, 2 and 3 threads must give the bits of strategy "reference"; and those must be near what the
 * naive oracle computes in f64, for max equal to it, indices included. With parity strategy
 * "parity" takes the place of "reference", and max is compared within rounding errors too: what the
 * other system itself would give is not known here. The indices that a max gradient reads are
 * random places in their windows. With a device (NULL: none) its kernels take the place of the
 * CPU's strategies. *resolved is a resolved descriptor. Returns 0 if it could be done, whatever the
 * verdict, or an exit code after a message.
 */
int cli_verify(const char *verb, const char *problem, const poolgrad_desc *resolved,
               const char *cpu, const char *device, uint64_t seed, cli_verdict *verdict);

#endif
