/* SPDX-License-Identifier: MIT */
/* A driver of long ago: it has a version and little else. */
#define FAKE_API __attribute__((visibility("default")))

FAKE_API int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}

FAKE_API int cuDriverGetVersion(int *version)
{
    *version = 11040;
    return 0;
}
