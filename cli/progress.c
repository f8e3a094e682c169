/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "floor.h"

#define BAR          24
#define ERASE_LINE   "\r\033[K"
#define MOST_COLUMNS 160

cli_progress cli_progress_begin(int count, int quiet)
{
    return (cli_progress){.quiet = quiet, .count = count, .begin = sup_now()};
}

static int columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
}

/* One line, cut where the terminal ends: what wraps could not be overwritten. */
static void draw(const cli_progress *progress, int done, const char *item)
{
    char bar[BAR + 1] = "", left[32] = "", line[MOST_COLUMNS];
    int full = (int)((long)BAR * done / progress->count);
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)full);
    if (done > 0) {
        double each = (sup_now() - progress->begin) / done;
        long seconds = (long)(each * (progress->count - done)) + 1;
        snprintf(left, sizeof left, "  %ld:%02ld left", seconds / 60, seconds % 60);
    }
    snprintf(line, (size_t)columns(), "[%s] %d/%d%s  %s", bar, done + 1, progress->count, left,
             item);
    fprintf(stderr, ERASE_LINE "%s", line);
}

void cli_progress_show(const cli_progress *progress, int done, const char *item)
{
    if (progress->quiet)
        return;
    if (isatty(STDERR_FILENO))
        draw(progress, done, item);
    else
        fprintf(stderr, "[%d/%d] %s\n", done + 1, progress->count, item);
    fflush(stderr);
}

void cli_progress_end(const cli_progress *progress)
{
    if (!progress->quiet && isatty(STDERR_FILENO))
        fputs(ERASE_LINE, stderr);
}
