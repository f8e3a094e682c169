/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "floor.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define HAVE_STREAMING 1
#else
#define HAVE_STREAMING 0
#endif

/* One copy moves 64 MiB, read and written together: long against waking the threads, short enough
 * that the best of many is one that nothing disturbed. */
#define PASS_BYTES ((size_t)64 << 20)

enum {
    PLAIN,
    STREAMING,
    READING,
    WRITING,
    KINDS
};

typedef struct helper {
    struct sup_floor *floor;
    int index;
    pthread_t thread;
} helper;

struct sup_floor {
    int threads; /* the caller's included */
    helper *helpers;

    /* A copy begins when `round` changes and has ended when `done` is the number of helpers; the
     * fields of the copy are written before and read after. The helpers spin, because waking a
     * sleeping thread takes as long as a good part of the copy. */
    atomic_uint round;
    atomic_int done;
    int stop;
    int kind;
    unsigned char *source, *target;

    size_t pairs, next; /* rotation */
    unsigned char *memory;
    double best[KINDS];
};

double sup_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------ machine */

/* The number of CPUs in a list such as "0-3,8-11". */
static long count_cpus(const char *list)
{
    long count = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        count += last - first + 1;
        list = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* All caches of the highest level together: several threads may use several of them. */
static size_t cache_from_sys(void)
{
    size_t largest = 0;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int index = 0; index < 8; index++) {
        char path[96], unit = 0, list[256] = "";
        unsigned long size = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        FILE *file = fopen(path, "re");
        if (!file)
            break;
        int fields = fscanf(file, "%lu%c", &size, &unit);
        fclose(file);
        if (fields < 1)
            continue;
        size_t bytes = (size_t)size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/shared_cpu_list",
                 index);
        file = fopen(path, "re");
        if (file) {
            if (!fgets(list, sizeof list, file))
                list[0] = '\0';
            fclose(file);
        }
        long shared = count_cpus(list);
        if (shared > 0 && online > shared)
            bytes *= (size_t)((online + shared - 1) / shared);
        /* The levels come in ascending order; private ones may add up to more than the last. */
        if (bytes > 0)
            largest = bytes;
    }
    return largest;
}

size_t sup_cache_bytes(void)
{
    /* sysconf comes second: on some virtual machines it reports ten times what is there. */
    size_t bytes = cache_from_sys();
#if defined(_SC_LEVEL3_CACHE_SIZE)
    long level3 = bytes ? 0 : sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (level3 > 0)
        bytes = (size_t)level3;
#endif
    return bytes ? bytes : (size_t)32 << 20;
}

size_t sup_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
    unsigned long long limit; /* of a container; "max" if there is none */
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    if (file) {
        if (fscanf(file, "%llu", &limit) == 1 && limit > 0 && limit < bytes)
            bytes = (size_t)limit;
        fclose(file);
    }
    return bytes;
}

double sup_cpu_wait(void)
{
    double waited = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[sizeof task->d_name + 32];
        unsigned long long ran, delayed; /* nanoseconds */
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        FILE *file = task->d_name[0] != '.' ? fopen(path, "re") : NULL;
        if (!file)
            continue;
        if (fscanf(file, "%llu %llu", &ran, &delayed) == 2)
            waited += (double)delayed * 1e-9;
        fclose(file);
    }
    closedir(tasks);
    return waited;
}

/* ------------------------------------------------------------------ copying */

static void copy_streaming(unsigned char *to, const unsigned char *from, size_t bytes)
{
#if HAVE_STREAMING
    for (size_t i = 0; i < bytes; i += 64) {
        __m128i a = _mm_load_si128((const __m128i *)(const void *)(from + i));
        __m128i b = _mm_load_si128((const __m128i *)(const void *)(from + i + 16));
        __m128i c = _mm_load_si128((const __m128i *)(const void *)(from + i + 32));
        __m128i d = _mm_load_si128((const __m128i *)(const void *)(from + i + 48));
        _mm_stream_si128((__m128i *)(void *)(to + i), a);
        _mm_stream_si128((__m128i *)(void *)(to + i + 16), b);
        _mm_stream_si128((__m128i *)(void *)(to + i + 32), c);
        _mm_stream_si128((__m128i *)(void *)(to + i + 48), d);
    }
    _mm_sfence();
#else
    memcpy(to, from, bytes);
#endif
}

/* Reads, and remembers just enough that the compiler must. */
static void only_read(const unsigned char *from, size_t bytes)
{
    static _Atomic uint64_t seen;
    uint64_t sums[8] = {0};
    for (size_t i = 0; i < bytes; i += sizeof sums) {
        uint64_t words[8];
        memcpy(words, from + i, sizeof words);
        for (int k = 0; k < 8; k++)
            sums[k] += words[k];
    }
    atomic_store_explicit(
        &seen, sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7],
        memory_order_relaxed);
}

/* Streams what is not zero: some memories treat zeros better. */
static void only_write(unsigned char *to, size_t bytes)
{
#if HAVE_STREAMING
    const __m128i ones = _mm_set1_epi8(1);
    for (size_t i = 0; i < bytes; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i), ones);
    _mm_sfence();
#else
    memset(to, 1, bytes);
#endif
}

/* One thread's part of the pass under way, in whole cache lines. */
static void copy_part(const sup_floor *floor, int index)
{
    size_t lines = PASS_BYTES / 2 / 64, threads = (size_t)floor->threads;
    size_t begin = lines * (size_t)index / threads * 64;
    size_t bytes = lines * ((size_t)index + 1) / threads * 64 - begin;
    switch (floor->kind) {
    case STREAMING:
        copy_streaming(floor->target + begin, floor->source + begin, bytes);
        break;
    case READING: /* twice as much, so that a pass is as many bytes as a copy's */
        only_read(floor->source + 2 * begin, 2 * bytes);
        break;
    case WRITING:
        only_write(floor->source + 2 * begin, 2 * bytes);
        break;
    default:
        memcpy(floor->target + begin, floor->source + begin, bytes);
    }
}

/* Called in a loop that waits; lets others run when the wait is long. */
static void pause_spinning(unsigned *spins)
{
    if (++*spins > 4096)
        sched_yield();
}

static void *helper_main(void *argument)
{
    helper *self = argument;
    sup_floor *floor = self->floor;
    for (unsigned seen = 0;; seen++) {
        for (unsigned spins = 0; atomic_load(&floor->round) == seen;)
            pause_spinning(&spins);
        if (floor->stop)
            return NULL;
        copy_part(floor, self->index);
        atomic_fetch_add(&floor->done, 1);
    }
}

static void copy_once(sup_floor *floor, int kind)
{
    floor->source = floor->memory + floor->next * PASS_BYTES;
    floor->target = floor->source + PASS_BYTES / 2;
    floor->kind = kind;
    floor->next = (floor->next + 1) % floor->pairs;
    atomic_store(&floor->done, 0);
    double begin = sup_now();
    atomic_fetch_add(&floor->round, 1);
    copy_part(floor, 0);
    for (unsigned spins = 0; atomic_load(&floor->done) != floor->threads - 1;)
        pause_spinning(&spins);
    double rate = (double)PASS_BYTES / (sup_now() - begin);
    if (rate > floor->best[kind])
        floor->best[kind] = rate;
}

/* Passes of some kinds over all buffers, at least one each, for about `seconds`; 0 if the threads
 * could not be started. */
static int run_passes(sup_floor *floor, int first, int last, double seconds)
{
    int started = 0;
    floor->stop = 0;
    atomic_store(&floor->round, 0);
    for (; started < floor->threads - 1; started++) {
        helper *next = &floor->helpers[started];
        next->floor = floor;
        next->index = started + 1;
        if (pthread_create(&next->thread, NULL, helper_main, next) != 0)
            break;
    }
    int all = started == floor->threads - 1;
    if (all) {
        double end = sup_now() + seconds;
        do {
            for (int kind = first; kind <= last; kind++)
                for (size_t pass = 0; pass < floor->pairs; pass++)
                    copy_once(floor, kind);
        } while (sup_now() < end);
    }
    floor->stop = 1;
    atomic_fetch_add(&floor->round, 1);
    for (int i = 0; i < started; i++)
        pthread_join(floor->helpers[i].thread, NULL);
    return all;
}

double sup_floor_measure(sup_floor *floor, double seconds)
{
    run_passes(floor, PLAIN, HAVE_STREAMING ? STREAMING : PLAIN, seconds);
    return floor->best[PLAIN] > floor->best[STREAMING] ? floor->best[PLAIN]
                                                       : floor->best[STREAMING];
}

void sup_floor_halves(sup_floor *floor, double seconds, double *reading, double *writing)
{
    run_passes(floor, READING, WRITING, seconds);
    *reading = floor->best[READING];
    *writing = floor->best[WRITING];
}

void sup_floor_reset(sup_floor *floor)
{
    memset(floor->best, 0, sizeof floor->best);
}

int sup_floor_threads(const sup_floor *floor)
{
    return floor->threads;
}

double sup_floor_plain(const sup_floor *floor)
{
    return floor->best[PLAIN];
}

double sup_floor_streaming(const sup_floor *floor)
{
    return floor->best[STREAMING];
}

sup_floor *sup_floor_create(int threads)
{
    if (threads < 1)
        return NULL;
    sup_floor *floor = calloc(1, sizeof *floor);
    if (!floor)
        return NULL;
    floor->threads = threads;
    floor->pairs = 4 * sup_cache_bytes() / PASS_BYTES + 1;
    floor->helpers = calloc((size_t)threads, sizeof *floor->helpers);
    void *memory = NULL;
    if (!floor->helpers || posix_memalign(&memory, 4096, floor->pairs * PASS_BYTES) != 0) {
        free(floor->helpers);
        free(floor);
        return NULL;
    }
    floor->memory = memory;
    memset(memory, 1, floor->pairs * PASS_BYTES);
    return floor;
}

void sup_floor_destroy(sup_floor *floor)
{
    if (!floor)
        return;
    free(floor->memory);
    free(floor->helpers);
    free(floor);
}
