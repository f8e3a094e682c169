/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal handler has to remove; NULL where no file is open. */
static char *volatile pending[SUP_OUTFILES];

/* Puts `path` in the place of `before`. */
static void replace_pending(const char *before, char *path)
{
    for (int i = 0; i < SUP_OUTFILES; i++) {
        if (pending[i] == before) {
            pending[i] = path;
            return;
        }
    }
}

static void close_fields(sup_outfile *file)
{
    if (file->temporary)
        replace_pending(file->temporary, NULL);
    if (file->stream)
        fclose(file->stream);
    free(file->name);
    free(file->path);
    free(file->temporary);
    memset(file, 0, sizeof *file);
}

/* The path to write to: links are followed, so that a link stays a link. */
static char *final_path(const char *path, char *message, size_t capacity)
{
    struct stat status;
    char *result;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode)) {
            snprintf(message, capacity, "%s is a folder; name a file in it", path);
            return NULL;
        }
        if (!S_ISREG(status.st_mode)) {
            snprintf(message, capacity, "%s is not a regular file; name another output", path);
            return NULL;
        }
        result = realpath(path, NULL);
    } else {
        result = strdup(path);
    }
    if (!result)
        snprintf(message, capacity, "cannot write %s: %s", path, strerror(errno));
    return result;
}

int sup_outfile_open(sup_outfile *file, const char *path, char *message, size_t capacity)
{
    memset(file, 0, sizeof *file);
    file->path = final_path(path, message, capacity);
    if (!file->path)
        return -1;
    file->name = strdup(path);
    size_t length = strlen(file->path) + 48;
    file->temporary = malloc(length);
    int descriptor = -1;
    /* mkstemp would make the file private; open lets the umask decide, as for any new file. */
    for (int attempt = 0; file->name && file->temporary && attempt < 100 && descriptor < 0;
         attempt++) {
        snprintf(file->temporary, length, "%s.%ld.%d.tmp", file->path, (long)getpid(), attempt);
        descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor >= 0) {
        replace_pending(NULL, file->temporary);
        file->stream = fdopen(descriptor, "wb");
    }
    if (!file->stream) {
        snprintf(message, capacity, "cannot write %s: %s", path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
            unlink(file->temporary);
        }
        close_fields(file);
        return -1;
    }
    return 0;
}

int sup_outfile_commit(sup_outfile *file, char *message, size_t capacity)
{
    int earlier = ferror(file->stream);
    int failed = fflush(file->stream) != 0;
    /* Some file systems cannot synchronise; that is no reason to refuse the file. */
    if (!failed && !earlier && fsync(fileno(file->stream)) != 0 && errno != EINVAL &&
        errno != ENOTSUP)
        failed = 1;
    int reason = failed ? errno : 0;
    FILE *stream = file->stream;
    file->stream = NULL;
    if (fclose(stream) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    if (!failed && !earlier && rename(file->temporary, file->path) != 0) {
        failed = 1;
        reason = errno;
    }
    if (failed || earlier) {
        snprintf(message, capacity, "cannot write %s: %s", file->name,
                 reason ? strerror(reason) : "a write failed; is the disk full?");
        unlink(file->temporary);
    }
    close_fields(file);
    return failed || earlier ? -1 : 0;
}

void sup_outfile_abort(sup_outfile *file)
{
    if (file->temporary)
        unlink(file->temporary);
    close_fields(file);
}

void sup_outfile_remove_pending(void)
{
    for (int i = 0; i < SUP_OUTFILES; i++) {
        const char *path = pending[i];
        if (path)
            unlink(path);
    }
}
