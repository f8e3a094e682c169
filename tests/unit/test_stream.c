/* SPDX-License-Identifier: MIT */
/* Results that are larger than a core's cache, which strategies store past it unless what they read
 * is there: every instruction set against the reference, rows that are aligned and rows that are
 * not. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* About 2.2 million elements: above 4 MB also in the narrow types. */
static const char *const problems[] = {
    "avg2d:%s:nchw:1x32x256x272:k3:p1:alpha=0.5",   /* rows of whole vectors */
    "avg2d:%s:nhwc:1x40x232x236:k3:p1:div=exclude", /* a remainder of eight elements */
    "avg2d:%s:nchw:1x32x256x264:k2:s2",             /* phases that take turns */
    "avg2d:%s:nchw:2x16x256x280:k3:s2:p1",          /* likewise, with a remainder */
    "avg2d:%s:nchw:1x33x253x259:k5:s3",             /* nothing is aligned */
    "avg2d:%s:nhwc:1x64x184x192:k2:s2",             /* groups of channels */
    "avg2d:%s:nchw:1x4600x33x33:k33:alpha=-2",      /* one window per plane; above 16 MiB */
    "avg2d:%s:nhwc:9x2048x16x17:k17:s17:p0,1x0",    /* likewise */
    "avg2d:%s:nhwc/nchw:2x64x128x144:k3:p1",        /* squares that are turned */
    "avg2d:%s:nchw:1x8x253x1101:k3:p1",             /* long rows: the lines within them */
    "avg2d:%s:nchw:64x180x14x14:k3:p1",             /* planes as one row, whose pieces are */
    "avgpool2d:%s:nchw:64x721x7x7:k3:p1:div=exclude",
    "avg2d:%s:nchw:65x181x14x14:k2:s2", /* planes made first, then stored */
    "avgpool2d:%s:nchw:63x721x14x14:k3:s2:p1:div=exclude",
    "avg1d:%s:nwc:8x1031x283:k3",                       /* likewise, of channels */
    "avgpool2d:%s:nhwc:1x64x184x192:k2:s2",             /* forward: what is near is not fetched, */
    "avgpool2d:%s:nhwc:1x40x232x236:k3:p1:div=exclude", /* nor here, */
    "avgpool2d:%s:nhwc:9x2053x11x11:k11",               /* nor here */
    "max2d:%s:nchw:1x32x256x264:k2:s2:alpha=0.5",       /* rows that are put together first */
    "max2d:%s:nchw:1x32x253x270:k2:s2:from=x",          /* likewise, unaligned */
    "max2d:%s:nchw/strided:1x32x256x264:k2:s2:dxstride=2228224,69632,272,1", /* with gaps between */
    "max2d:%s:nhwc:1x64x184x192:k3:s2:p1",        /* groups of whole vectors, one by one */
    "max2d:%s:nhwc:1x40x232x236:k3:s2:p1",        /* and with a remainder */
    "max2d:%s:nchw:1x32x256x264:k3:s2:p1:from=x", /* a plane at a time */
    "maxpool2d:%s:nhwc:1x48x300x304:k3:s2:p1", /* forward: values, and indices, window by window, */
    "maxpool2d:%s:nhwc:4x3x850x856:k3:s2:p1",  /* row by row, of few channels, */
    "maxpool2d:%s:nhwc:4x5x650x656:k2:s2:base=nxc_image:index=i32", /* likewise, */
    "maxpool2d:%s:nchw:1x32x600x608:k2:s2",                         /* of one channel */
    "avg2d:%s:nchw:1x36x2x32000:k3:s2",                             /* no window at all */
    /* channels that, in f64, are cut by halves until one would be left over */
    "max2d:%s:nhwc:1x4033x1x700:k1x2:s1x2:base=window:index=u8",
};

/* Drives what is read out of the caches, where that can be done. (Where not, nothing can be found
 * there either.) */
static void put_away(const fixture *f)
{
#if defined __x86_64__ || defined __i386__
    const sup_memory *source = sup_is_forward(&f->desc) ? &f->x : &f->dy;
    size_t at;

    for (at = 0; at < source->bytes; at += 64)
        __builtin_ia32_clflush((const char *)source->allocation + at);
    __builtin_ia32_mfence();
#else
    (void)f;
#endif
}

/* Computes the result, and the winners' places, which are to be freed, of a forward maximum. */
static int64_t *run_forward_too(const fixture *f, const poolgrad_options *options, void *result)
{
    const int64_t windows = sup_view_count(&f->desc, fixture_view(f));
    int64_t *winners;
    sup_memory indices;

    if (f->desc.op != POOLGRAD_MAX) {
        run_into(f, options, result);
        return NULL;
    }
    winners = malloc((size_t)windows * sizeof *winners);
    assert_non_null(winners);
    assert_int_equal(sup_index_alloc(&f->desc, &indices), 0);
    run_with_indices(f, options, result, indices.first);
    sup_index_gather(&f->desc, indices.first, winners);
    sup_view_free(&indices);
    return winners;
}

static void compare(const char *text)
{
    const poolgrad_options reference = options_for("reference", 2);
    poolgrad_options options = options_for(NULL, 2);
    int64_t *expected_winners, *winners, windows;
    sup_memory expected, actual;
    const char *cpu;
    size_t c;
    int near;
    fixture f;

    fixture_parse(&f, text, SUP_UNIFORM, 5);
    windows = sup_view_count(&f.desc, fixture_view(&f));
    expected = copy_of_result(&f);
    expected_winners = run_forward_too(&f, &reference, expected.first);
    for (c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
        options.cpu = cpu;
        for (near = 0; near < 2; near++) {
            actual = copy_of_result(&f);
            if (!near)
                put_away(&f);
            winners = run_forward_too(&f, &options, actual.first);
            assert_same_result(&f, expected.first, actual.first, cpu);
            if (winners && memcmp(winners, expected_winners, (size_t)windows * sizeof *winners))
                fail_msg("%s\n%s: other winners than those of the reference", text, cpu);
            free(winners);
            sup_view_free(&actual);
        }
    }
    free(expected_winners);
    sup_view_free(&expected);
    fixture_free(&f);
}

static void results_past_the_caches(void **state)
{
    static const char *const types[] = {"f32", "f16", "bf16", "f64"};
    const size_t used = scaled(100) < 100 ? 1 : 4; /* slow builds: one type */
    char text[128];
    size_t t, i;

    (void)state;
    for (t = 0; t < used; t++) {
        for (i = 0; i < sizeof problems / sizeof problems[0]; i++) {
            const char *rest = strstr(problems[i], "%s") + 2;

            snprintf(text, sizeof text, "%.*s%s%s", (int)(rest - 2 - problems[i]), problems[i],
                     types[t], rest);
            compare(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_past_the_caches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
