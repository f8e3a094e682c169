/* SPDX-License-Identifier: MIT */
/* What the files of the stand-in share. Everything behind fake_begin is done under one lock. */
#ifndef TESTS_FAKE_CUDA_FAKE_H
#define TESTS_FAKE_CUDA_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

#define FAKE_API __attribute__((visibility("default")))

enum {
    FAKE_MOST_DEVICES = 4,
    FAKE_THREADS = 1024,          /* of a block */
    FAKE_PLAIN_SHARED = 48 << 10, /* bytes of shared memory, without asking for more */
    FAKE_REGISTERS = 65536,       /* of a multiprocessor, and so of a block */
    FAKE_PARAMETERS = 4
};

/* What a function needs before it can do anything. */
typedef enum fake_need {
    FAKE_NOTHING,
    FAKE_STARTED, /* cuInit */
    FAKE_CURRENT  /* a context of the calling thread */
} fake_need;

typedef struct fake_context {
    int device;
    int retained;
} fake_context;

/* Counts the call and takes the lock; what fake_end gives it back for is the result. Anything but
 * 0: the call is to return that. */
int fake_begin(const char *function, fake_need need);
int fake_end(int result);

/* The calling thread's context; the devices' compute capability times ten, and the bytes of shared
 * memory that a block can have. */
fake_context *fake_current(void);
int fake_compute(void);
int fake_shared(void);

/* One more or one less that must be freed. */
void fake_born(void);
void fake_died(void);

/* ------------------------------------------------------------------- memory */

/* Where the bytes of device memory really are; NULL unless all of them are of one allocation. The
 * addresses themselves cannot be read: a host that tries is caught. */
char *fake_bytes(uint64_t address, size_t bytes);

/* Whether it is an address within memory of that device. */
bool fake_is_of_device(uint64_t address, int device);

/* ------------------------------------------------------------------ streams */

/* One thing that is put on a stream. */
typedef struct fake_work {
    enum {
        FAKE_FILL,
        FAKE_COPY,
        FAKE_FETCH,
        FAKE_LAUNCH
    } kind;
    uint64_t to, from;
    void *host;
    size_t bytes;
    unsigned char value;
} fake_work;

/* Does it at once, or records it where the stream is being captured. */
int fake_put(void *stream, const fake_work *work);

/* --------------------------------------------------------------------- maps */

/* As fake_cuda_control promises. */
bool fake_last_map(int before, fake_map *map);

/* ------------------------------------------------------------------- images */

/* What is known of a kernel from its machine code. */
typedef struct fake_kernel {
    char name[96];
    int registers;
    int most_threads; /* of a block; as the kernel was compiled for */
    int shared;       /* bytes, not counting what a launch adds */
    int parameters;
    int parameter_bytes[FAKE_PARAMETERS];
    bool asked;
    int most_dynamic; /* bytes of shared memory that a launch may add */
    struct fake_module *module;
    struct fake_kernel *next;
} fake_kernel;

typedef struct fake_module {
    fake_context *context;
    bool readable;
    fake_kernel *kernels;
    struct fake_module *next;
} fake_module;

/* Finds machine code for that compute capability and lists its kernels. An image in a form that is
 * not known, as compressed ones are, is accepted and not readable. */
int fake_image_read(const void *image, int compute, fake_module *module);

extern fake_module *fake_modules;

#endif
