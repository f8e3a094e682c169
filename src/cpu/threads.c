/* SPDX-License-Identifier: MIT */
/* How many threads there may be, and running tasks on them. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */
#include "cpu/threads.h"

#include "core/integer.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <poolgrad/poolgrad.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/*
 * The process that made the first plan. OpenMP's threads do not survive fork, and starting new
 * ones in the child of a process that had some, ours or the program's own, deadlocks in common
 * runtimes; so a child works on its own thread alone.
 */
static atomic_int owner;

bool pgi_threads_claim(void)
{
    const int self = (int)getpid();
    int expected = 0;

    return atomic_compare_exchange_strong(&owner, &expected, self) || expected == self;
}

/* CPUs that the bandwidth of the control group at `folder` amounts to, from a file that says
 * "QUOTA PERIOD" or "max PERIOD"; INT32_MAX if it sets no limit. */
static int quota_of(const char *folder)
{
    char path[512], line[64];
    int64_t quota, period;
    int cpus = INT32_MAX;
    FILE *file;

    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", folder);
    file = fopen(path, "re");
    if (!file)
        return cpus;
    if (fgets(line, sizeof line, file) &&
        sscanf(line, "%" SCNd64 " %" SCNd64, &quota, &period) == 2 && quota > 0 && period > 0)
        cpus = (int)pgi_min(cpus, pgi_max(1, quota / period));
    fclose(file);
    return cpus;
}

/* The tightest quota from the process's own group (cgroup v2) up to the root. */
static int read_quota(void)
{
    char line[400];
    int cpus = INT32_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");

    if (!file)
        return cpus;
    while (fgets(line, sizeof line, file)) {
        char *folder = line + 3, *end;

        if (strncmp(line, "0::/", 4) != 0)
            continue;
        folder[strcspn(folder, "\n")] = '\0';
        do {
            cpus = (int)pgi_min(cpus, quota_of(folder));
            end = strrchr(folder, '/');
            if (end)
                *end = '\0';
        } while (end);
    }
    fclose(file);
    return cpus;
}

/* Read once: files are slow, and a quota rarely changes while a process runs. */
static int quota(void)
{
    static atomic_int known;
    int cpus = atomic_load(&known);

    if (cpus == 0) {
        cpus = read_quota();
        atomic_store(&known, cpus);
    }
    return cpus;
}

int32_t poolgrad_default_threads(void)
{
    int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cpus = CPU_COUNT(&set);
    cpus = pgi_min(cpus, quota());
#ifdef _OPENMP
    cpus = pgi_min(cpus, omp_get_max_threads());
#else
    cpus = 1;
#endif
    return (int32_t)pgi_max(1, pgi_min(cpus, PGI_MAX_THREADS));
}

void pgi_threads_run(int32_t threads, int64_t tasks, void (*task)(void *data, int64_t index),
                     void *data)
{
    int64_t i;

#ifdef _OPENMP
    if (!omp_in_parallel() && pgi_threads_claim()) {
        const int team = (int)pgi_min(threads, tasks);

#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
        for (i = 0; i < tasks; i++)
            task(data, i);
        return;
    }
#else
    (void)threads;
#endif
    for (i = 0; i < tasks; i++)
        task(data, i);
}
