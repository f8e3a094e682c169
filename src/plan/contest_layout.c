/* SPDX-License-Identifier: MIT */
/* Sizes of a contest: how each axis is reduced, and what that needs. */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/contest.h"
#include "plan/placement.h"

/* Contenders of all but the last pass. More would compare what a span has compared already. */
#define SPAN_CONTENDERS 4
/* Taps that are compared in one pass anyway: two would take as many comparisons. */
#define ONE_PASS 5
/* Cells of the rows that are reduced along W at once: their spans stay in the first-level cache. */
#define CHUNK_CELLS 2048
/* Places of a plane up to which planes are taken together: more do not stay in the cache, and have
 * rows that fill vectors anyway. */
#define SMALL_PLANE 1024
/* Lanes that lie apart of adaptive windows, each of which is reduced by itself, at a cost that
 * lanes share (Zen 5, avx2, f32 NCX forward, with 16, 32, 64 and 128: 56x56 to 13x13 1.36, 1.07,
 * 0.96 and 1.17 ms, 7x7 to 16x16 3.1, 2.3, 2.1 and 2.1; but 13x13 windows, which are swept, 1.05
 * and more). */
#define ADAPTIVE_LANES 64
/* Places of rows up to which it is the same with windows longer than their row. */
#define SHORT_ROW 64

bool pgi_counts_taps(const pgi_problem *problem)
{
    return problem->has_indices && problem->indexing.window && !problem->axis[0].adaptive &&
           !problem->axis[1].adaptive && !problem->axis[2].adaptive;
}

bool pgi_places_fit(const pgi_problem *problem)
{
    const bool tapped = pgi_counts_taps(problem);
    int64_t places = 1, taps = 1; /* more than any place or tap */
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (!pgi_mul(places, axis->in, &places))
            return false;
        if (tapped && (!pgi_mul(taps, axis->kernel, &taps) || !pgi_add(taps, axis->in, &taps)))
            return false;
    }
    return places <= -(int64_t)PGI_NOWHERE && taps <= -(int64_t)PGI_NOWHERE;
}

/* Whether windows are longer than comparing all taps at once is good for: than four strides. With a
 * long stride that makes few candidates. */
static bool has_many_taps(const pgi_axis *axis)
{
    return (axis->kernel - 1) / 4 >= axis->stride || axis->kernel > PGI_CONTENDERS;
}

static bool can_sweep(const pgi_gather *taps)
{
    return taps->filled && taps->axis.dilation == 1 && has_many_taps(&taps->axis);
}

/* Whether windows are so far apart that what vectors of them need would have to be gathered. */
static bool are_far_apart(const pgi_axis *axis)
{
    return axis->kernel > 1 && axis->stride > 2 && axis->stride + axis->kernel > 6;
}

bool pgi_planes_are_small(const pgi_problem *problem)
{
    int64_t places = 1;
    int i;

    for (i = 0; i < 3; i++)
        places *= pgi_min(problem->axis[i].in, SMALL_PLANE + 1);
    return places <= SMALL_PLANE;
}

int64_t pgi_contest_lanes(const pgi_gather taps[3], const pgi_problem *problem)
{
    const int64_t channels = problem->target.extent[PGI_CHANNEL];

    if (taps[2].axis.adaptive || (!taps[2].filled && taps[2].axis.in <= SHORT_ROW))
        return ADAPTIVE_LANES;
    if ((are_far_apart(&taps[2].axis) && channels >= PGI_FULL_VECTOR) ||
        (can_sweep(&taps[2]) && pgi_planes_are_small(problem) && channels % PGI_FULL_VECTOR == 0))
        return PGI_FULL_VECTOR;
    return 1;
}

/* Positions are `cells` cells side by side, at least. */
static void measure_axis(const pgi_gather *taps, int64_t targets, int64_t cells, pgi_spans *spans)
{
    const pgi_axis *axis = &taps->axis;
    int64_t longest, span = 1;

    *spans = (pgi_spans){.regular = taps->filled, .targets = targets, .span = {1}};
    spans->reach = pgi_max(1, pgi_gather_reach_bound(taps, targets));
    if (spans->regular) {
        spans->swept = can_sweep(taps) && cells >= PGI_FULL_VECTOR;
        if (spans->swept)
            return;
        if (has_many_taps(axis) && axis->kernel > ONE_PASS)
            for (; axis->kernel > SPAN_CONTENDERS * span; span *= SPAN_CONTENDERS)
                spans->span[spans->passes++] = span;
        spans->span[spans->passes++] = span;
        spans->span[spans->passes] = axis->kernel;
        spans->nothing = axis->kernel == 1 && axis->stride == 1;
        return;
    }
    longest = pgi_max(1, pgi_min(taps->longest, (spans->reach - 1) / taps->q + 1));
    spans->passes = longest > PGI_CONTENDERS ? pgi_log2(longest) : 0;
}

/* Spans that an axis has in memory beside its sources: of a regular one the last two. */
static int kept_spans(const pgi_spans *spans)
{
    return spans->swept ? 0 : spans->regular ? (int)pgi_min(spans->passes - 1, 2) : spans->passes;
}

static pgi_candidates place_candidates(pgi_placement *at, int64_t a, int64_t b, int64_t c,
                                       size_t real)
{
    pgi_candidates room = {0, 0};
    int64_t cells;

    at->fits = at->fits && pgi_mul(a, b, &cells) && pgi_mul(cells, c, &cells) &&
               pgi_add(cells, PGI_SLACK, &cells);
    if (at->fits) {
        room.values = pgi_place(at, 1, 1, cells, (int64_t)real);
        room.places = pgi_place(at, 1, 1, cells, sizeof(int32_t));
    }
    return room;
}

bool pgi_contest_measure(const pgi_gather taps[3], const int64_t targets[3], int64_t lanes,
                         bool apart, poolgrad_dtype dtype, pgi_contest_layout *layout)
{
    const size_t real = pgi_compute_size(dtype);
    pgi_spans *axis = layout->axis;
    pgi_placement at = {0, true};
    int64_t wide, row, plane, cells = pgi_min(PGI_FULL_VECTOR, lanes);
    int i;

    *layout = (pgi_contest_layout){.lanes = lanes, .real = real, .apart = apart};
    for (i = 2; i >= 0; i--) { /* a position is what the axes behind it have of windows */
        measure_axis(&taps[i], targets[i], cells, &axis[i]);
        cells = pgi_min(PGI_FULL_VECTOR, cells * pgi_min(PGI_FULL_VECTOR, targets[i]));
    }
    if (!pgi_mul(axis[2].reach, lanes, &wide) || !pgi_mul(targets[2], lanes, &row) ||
        !pgi_mul(targets[1], row, &plane))
        return false;
    layout->joined = lanes > 1 && lanes < PGI_FULL_VECTOR && axis[2].regular && !axis[2].swept &&
                     (axis[2].passes > 1 || taps[2].axis.stride == 1);
    layout->chunk = pgi_max(1, pgi_min(axis[1].reach, CHUNK_CELLS / wide));
    layout->admitted = place_candidates(&at, layout->chunk, 1, wide, real).values;
    for (i = 0; i < kept_spans(&axis[2]); i++)
        layout->columns[i] = place_candidates(&at, layout->chunk, 1, wide, real);
    for (i = 0; i < !axis[1].nothing + kept_spans(&axis[1]); i++)
        layout->rows[i] = place_candidates(&at, 1, axis[1].reach, row, real);
    for (i = 0; i < !axis[0].nothing + kept_spans(&axis[0]); i++)
        layout->planes[i] = place_candidates(&at, 1, axis[0].reach, plane, real);
    layout->winners = place_candidates(&at, targets[0], targets[1], row, real);
    if (layout->apart)
        layout->separated = place_candidates(&at, targets[0], targets[1], row, real);
    layout->position = pgi_place(&at, 1, 1, axis[2].reach + PGI_SLACK, sizeof(int32_t));
    layout->contender = pgi_place(&at, 1, pgi_max(PGI_CONTENDERS, SPAN_CONTENDERS),
                                  pgi_max(axis[2].passes > 1 ? axis[2].reach : 0, targets[2]) *
                                          (layout->joined ? lanes : 1) +
                                      PGI_SLACK,
                                  sizeof(int32_t));
    layout->base = pgi_place(&at, 1, axis[0].reach, axis[1].reach, sizeof(int32_t));
    layout->copied = pgi_place(&at, 1, 1, axis[2].reach, sizeof(int32_t));
    layout->bytes = (size_t)at.end;
    return at.fits;
}
