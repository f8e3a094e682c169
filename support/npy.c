/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "npy_header.h"

/* NumPy itself refuses to evaluate headers above 10,000 characters. */
#define MAX_HEADER 65536u

static const char magic[] = "\x93NUMPY";

static int host_is_little(void)
{
    const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return low;
}

static int needs_swap(char order)
{
    return order == (host_is_little() ? '>' : '<');
}

static void swap_elements(void *data, size_t bytes, size_t size)
{
    unsigned char *at = data;
    for (size_t i = 0; i + size <= bytes; i += size) {
        for (size_t lo = i, hi = i + size - 1; lo < hi; lo++, hi--) {
            unsigned char keep = at[lo];
            at[lo] = at[hi];
            at[hi] = keep;
        }
    }
}

/* Bytes of the elements; -1 if the product overflows. */
static int data_bytes(const sup_npy *array, size_t *bytes)
{
    uint64_t product = (uint64_t)array->size;
    int empty = 0;
    for (int axis = 0; axis < array->rank; axis++) {
        if (array->shape[axis] == 0)
            empty = 1;
        else if (__builtin_mul_overflow(product, (uint64_t)array->shape[axis], &product))
            return -1;
    }
    *bytes = empty ? 0 : (size_t)product;
    return product > SIZE_MAX / 2 ? -1 : 0;
}

/* ------------------------------------------------------------------ reading */

/* The magic, the version and the header; `left` is what the file holds beyond what was read. */
static int read_header(FILE *file, sup_npy *array, uint64_t *left, char *message, size_t capacity)
{
    unsigned char start[12];
    if (*left < 10 || fread(start, 1, 10, file) != 10) {
        snprintf(message, capacity, "it is too short to be a .npy file");
        return -1;
    }
    *left -= 10;
    if (memcmp(start, magic, 6) != 0) {
        snprintf(message, capacity, "it is not a .npy file; save it with numpy.save");
        return -1;
    }
    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
        snprintf(message, capacity, "its .npy version is %d.%d; versions 1.0, 2.0 and 3.0 are read",
                 start[6], start[7]);
        return -1;
    }
    uint32_t length = start[8] | (uint32_t)start[9] << 8;
    if (start[6] > 1) { /* the length takes four bytes */
        if (*left < 2 || fread(start + 10, 1, 2, file) != 2) {
            snprintf(message, capacity, "it is cut within its header");
            return -1;
        }
        *left -= 2;
        length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    }
    if (length > *left) {
        snprintf(message, capacity, "it is cut within its header");
        return -1;
    }
    if (length > MAX_HEADER) {
        snprintf(message, capacity, "its .npy header of %lu bytes is longer than %u",
                 (unsigned long)length, MAX_HEADER);
        return -1;
    }
    *left -= length;
    char *text = malloc((size_t)length + 1);
    if (!text || fread(text, 1, length, file) != length) {
        snprintf(message, capacity, text ? "its header cannot be read" : "out of memory");
        free(text);
        return -1;
    }
    int result = sup_npy_header_parse(text, length, array, message, capacity);
    free(text);
    return result;
}

static int read_open(FILE *file, sup_npy *array, char *message, size_t capacity)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0) {
        snprintf(message, capacity, "%s", strerror(errno));
        return -1;
    }
    if (!S_ISREG(status.st_mode)) {
        snprintf(message, capacity, "it is not a regular file");
        return -1;
    }
    uint64_t left = (uint64_t)status.st_size;
    if (read_header(file, array, &left, message, capacity))
        return -1;
    char shape[160];
    sup_npy_shape_text(array->rank, array->shape, shape, sizeof shape);
    size_t bytes;
    if (data_bytes(array, &bytes)) {
        snprintf(message, capacity, "its shape %s is too large for memory", shape);
        return -1;
    }
    if (bytes != left) {
        snprintf(message, capacity, "its shape %s needs %zu bytes of data but it holds %llu", shape,
                 bytes, (unsigned long long)left);
        return -1;
    }
    array->data = malloc(bytes ? bytes : 1);
    if (!array->data) {
        snprintf(message, capacity, "out of memory for %zu bytes", bytes);
        return -1;
    }
    if (fread(array->data, 1, bytes, file) != bytes) {
        snprintf(message, capacity, "%s",
                 ferror(file) ? strerror(errno) : "it became shorter while it was read");
        return -1;
    }
    array->bytes = bytes;
    if (needs_swap(array->order))
        swap_elements(array->data, bytes, (size_t)array->size);
    return 0;
}

int sup_npy_read(const char *path, sup_npy *array, char *message, size_t capacity)
{
    memset(array, 0, sizeof *array);
    FILE *file = fopen(path, "rbe");
    if (!file) {
        snprintf(message, capacity, "%s", strerror(errno));
        return -1;
    }
    int result = read_open(file, array, message, capacity);
    fclose(file);
    if (result)
        sup_npy_free(array);
    return result;
}

void sup_npy_free(sup_npy *array)
{
    free(array->data);
    memset(array, 0, sizeof *array);
}

/* ------------------------------------------------------------------ writing */

char *sup_npy_shape_text(int rank, const int64_t *shape, char *text, size_t capacity)
{
    size_t used = 0;
    snprintf(text, capacity, "()");
    for (int axis = 0; axis < rank && used < capacity; axis++) {
        const char *close = axis < rank - 1 ? "" : rank == 1 ? ",)" : ")";
        int length = snprintf(text + used, capacity - used, "%s%lld%s", axis == 0 ? "(" : ", ",
                              (long long)shape[axis], close);
        used += length > 0 ? (size_t)length : 0;
    }
    return text;
}

static void write_header(FILE *file, const sup_npy *array)
{
    char shape[SUP_NPY_MAX_RANK * 22 + 8], text[sizeof shape + 128];
    sup_npy_shape_text(array->rank, array->shape, shape, sizeof shape);
    char order = array->size == 1                            ? '|'
                 : array->kind == 'V' || array->order != '|' ? array->order
                 : host_is_little()                          ? '<'
                                                             : '>';
    int length =
        snprintf(text, sizeof text, "{'descr': '%c%c%d', 'fortran_order': %s, 'shape': %s, }",
                 order, array->kind, array->size, array->fortran ? "True" : "False", shape);
    /* Prefix, text, spaces and a newline together are a multiple of 64 bytes. At most 32 dimensions
     * always fit in the two bytes that version 1 has for the length; 2 exists for longer ones. */
    size_t prefix = 10;
    size_t padded = (prefix + (size_t)length + 1 + 63) / 64 * 64 - prefix;
    fwrite(magic, 1, 6, file);
    fputc(1, file);
    fputc(0, file);
    fputc((int)(padded & 0xff), file);
    fputc((int)(padded >> 8), file);
    fprintf(file, "%-*s\n", (int)padded - 1, text);
}

int sup_npy_write(const char *path, const sup_npy *array, sup_outfile *file, char *message,
                  size_t capacity)
{
    size_t bytes;
    if (data_bytes(array, &bytes)) {
        snprintf(message, capacity, "the array is too large");
        return -1;
    }
    if (sup_outfile_open(file, path, message, capacity))
        return -1;
    write_header(file->stream, array);
    unsigned char chunk[8192]; /* a multiple of every element size */
    const char *data = array->data;
    for (size_t done = 0; done < bytes && !ferror(file->stream);) {
        size_t part = bytes - done;
        if (!needs_swap(array->order)) {
            fwrite(data, 1, bytes, file->stream);
            break;
        }
        if (part > sizeof chunk)
            part = sizeof chunk;
        memcpy(chunk, data + done, part);
        swap_elements(chunk, part, (size_t)array->size);
        fwrite(chunk, 1, part, file->stream);
        done += part;
    }
    /* A full disk shows here, before any of several files is put in place. */
    if (fflush(file->stream) == 0 && !ferror(file->stream))
        return 0;
    snprintf(message, capacity, "cannot write %s: a write failed; is the disk full?", path);
    sup_outfile_abort(file);
    return -1;
}
