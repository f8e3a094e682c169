/* SPDX-License-Identifier: MIT */
/*
 * How far a long job is, on stderr: a bar on a terminal, a line for each item elsewhere.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

typedef struct cli_progress {
    int quiet; /* 1: nothing at all */
    int count; /* items of the job */
    double begin;
} cli_progress;

/* A job of `count` items that begins now. */
cli_progress cli_progress_begin(int count, int quiet);

/* Item `done`, counted from 0, is next. */
void cli_progress_show(const cli_progress *progress, int done, const char *item);

/* The job has ended: leaves nothing on the terminal. */
void cli_progress_end(const cli_progress *progress);

#endif
