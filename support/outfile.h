/* SPDX-License-Identifier: MIT */
/*
 * A file that appears whole or not at all: written under a temporary name in the same folder,
 * synchronised, then renamed to its own name.
 */
#ifndef SUPPORT_OUTFILE_H
#define SUPPORT_OUTFILE_H

#include <stddef.h>
#include <stdio.h>

#define SUP_OUTFILES 4 /* that may be open at once */

typedef struct sup_outfile {
    FILE *stream; /* write here; errors may be ignored until commit */
    char *name;   /* as the caller wrote it, for messages */
    char *path;   /* the final name, symbolic links followed */
    char *temporary;
} sup_outfile;

/*
 * Opens the temporary file, with the permissions of a normally created one. An existing regular
 * file at `path` stays until commit replaces it; anything else there (a folder, a device) is
 * refused. Returns 0, or -1 with a sentence in message[capacity].
 */
int sup_outfile_open(sup_outfile *file, const char *path, char *message, size_t capacity);

/* Puts the file in place. Returns 0, or -1 with a message, the temporary file then removed; also
 * -1 if any earlier write to the stream failed. *file is closed either way. */
int sup_outfile_commit(sup_outfile *file, char *message, size_t capacity);

/* Gives up: removes the temporary file. Does nothing on a closed *file. */
void sup_outfile_abort(sup_outfile *file);

/* Removes the temporary files of all that are open. May be called from a signal handler; the
 * program must end afterwards. */
void sup_outfile_remove_pending(void);

#endif
