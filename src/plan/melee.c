/* SPDX-License-Identifier: MIT */
#include "plan/melee.h"

#include "core/integer.h"
#include "plan/rows.h"

/* Whether windows share planes, so that what is best in each is found once. */
static bool layered(const pgi_gather *depth)
{
    const pgi_axis *axis = &depth->axis;

    return !axis->adaptive && axis->dilation == 1 && axis->kernel <= PGI_LAYERS &&
           axis->stride < axis->kernel;
}

/* Whether windows are 3x3 in every plane and neighbours share two rows and columns of it. */
static bool has_threes(const pgi_gather taps[3], const pgi_tensor *x)
{
    int i;

    for (i = 1; i < 3; i++)
        if (taps[i].axis.adaptive || taps[i].axis.kernel != 3 || taps[i].axis.stride != 1 ||
            taps[i].axis.dilation != 1)
            return false;
    return x->stride[PGI_SPATIAL + 2] == 1 && (layered(&taps[0]) || taps[0].longest == 1);
}

/* Whether all taps at once cost less than a contest, axis by axis, which shares what windows have
 * in common but carries every candidate through memory. Fitted to what was measured, in parts of a
 * contest's time: 2x2 with stride 1 0.75, 3x3 with stride 2 0.75 and 3 0.6, 3x3x3 with stride 2
 * 0.6; but 3x3 with stride 1 1.04 (NCX 1.4), 3x3x3 with stride 1 1.3, 5x5 with stride
 * 2 1.1. */
static bool is_cheaper(const pgi_gather taps[3], int64_t all, int64_t lanes)
{
    int64_t contest = 0, strides = 1;
    int i;

    if (layered(&taps[0])) /* so many taps of layers for a window, and those that meet at last */
        all = all / taps[0].longest * taps[0].axis.stride + taps[0].longest;
    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &taps[i].axis;

        if (axis->adaptive)
            return true;
        if (axis->kernel > 1 || axis->stride > 1)
            contest += (axis->kernel + 2) * strides;
        strides *= pgi_min(axis->stride, PGI_MELEE_TAPS);
    }
    return (lanes > 1 ? 3 : 4) * all <= 2 * contest + 3 * strides;
}

bool pgi_arena_suits(const pgi_gather taps[3], int64_t targets, int64_t lanes, const pgi_tensor *x)
{
    int64_t all = 1;
    int i;

    for (i = 0; i < 3; i++) {
        if (taps[i].longest > PGI_MELEE_TAPS)
            return false;
        all *= taps[i].longest;
    }
    if (all > PGI_MELEE_TAPS ||
        !(is_cheaper(taps, all, lanes) || (lanes == 1 && has_threes(taps, x))))
        return false;
    if (lanes > 1)
        return lanes >= PGI_FULL_VECTOR && x->stride[PGI_CHANNEL] == 1;
    return targets >= PGI_FULL_VECTOR + taps[2].longest;
}

bool pgi_taps_are_bytes(const pgi_gather taps[3])
{
    int64_t all = 1;
    int i;

    for (i = 0; i < 3; i++)
        if (!pgi_mul(all, taps[i].axis.adaptive ? taps[i].longest : taps[i].axis.kernel, &all))
            return false;
    return all <= UINT8_MAX;
}

pgi_arena_layout pgi_arena_measure(const pgi_gather taps[3], const int64_t targets[3],
                                   int64_t lanes, size_t real, pgi_placement *at)
{
    pgi_arena_layout layout = {.layered = layered(&taps[0])};
    const int64_t layers = layout.layered ? taps[0].axis.kernel : 0;
    int i;

    for (i = 0; i < 3; i++)
        layout.stretches[i] = pgi_place(at, 1, 1, targets[i], sizeof(pgi_stretch));
    layout.kept.values = pgi_place(at, 3, targets[2], lanes, (int64_t)real);
    layout.kept.places = pgi_place(at, 3, targets[2], lanes, sizeof(int32_t));
    layout.layers.values = pgi_place(at, targets[1], targets[2], lanes, layers * (int64_t)real);
    layout.layers.places =
        pgi_place(at, targets[1], targets[2], lanes, layers * (int64_t)sizeof(int32_t));
    layout.bytes = (size_t)at->end;
    return layout;
}

static bool inside(const pgi_box *box, int axis, int64_t p)
{
    return p >= box->begin[axis] && p < box->end[axis];
}

/* Cuts the windows of an axis. Those with taps outside of the box are alone. */
static void cut_axis(pgi_arena *arena, int axis, int64_t begin, int64_t end)
{
    const pgi_gather *taps = &arena->taps[axis];
    pgi_stretch *last = NULL, *next = arena->stretches[axis];
    bool alone = false;
    int64_t o;

    for (o = begin; o < end; o++) {
        pgi_run run = pgi_run_clip(pgi_gather_run(taps, o), taps->q, taps->axis.in);
        const bool whole =
            run.count == 0 || (inside(&arena->box, axis, run.first) &&
                               inside(&arena->box, axis, run.first + (run.count - 1) * taps->q));

        if (run.count == 0)
            run.first = 0;
        if (last && !alone && whole && last->taps == run.count && o == last->begin + 1)
            last->step = run.first - last->first;
        if (last && !alone && whole && last->taps == run.count &&
            run.first == last->first + (o - last->begin) * last->step) {
            last->end++;
            continue;
        }
        last = next++;
        *last = (pgi_stretch){o, o + 1, run.count, run.first, 0};
        alone = !whole;
    }
    arena->count[axis] = next - arena->stretches[axis];
}

void pgi_arena_region(pgi_arena *arena, const int64_t begin[3], const int64_t end[3],
                      const pgi_box *box)
{
    int i;

    arena->box = *box;
    for (i = 0; i < 3; i++) {
        arena->windows[i] = (pgi_range){begin[i], end[i]};
        arena->stretches[i] =
            (pgi_stretch *)(void *)(arena->workspace + arena->layout->stretches[i]);
        cut_axis(arena, i, begin[i], end[i]);
    }
}

static pgi_rule rule_of(poolgrad_nan nan)
{
    return nan == POOLGRAD_NAN_FIRST  ? PGI_RULE_FIRST
           : nan == POOLGRAD_NAN_SKIP ? PGI_RULE_SKIP
           : nan == POOLGRAD_NAN_LAST ? PGI_RULE_LAST
                                      : PGI_RULE_LEADING;
}

/* Places that are taps: of the first window, and how they change from window to window, as they do
 * where windows lose taps to the padding. Adaptive windows lose none, but differ in length. */
static void name_taps(const pgi_arena *arena, const pgi_stretch *const at[3], bool layer,
                      pgi_melee *melee)
{
    int64_t lost[3], step[3], kernel[3], t;
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &arena->taps[i].axis;

        kernel[i] = axis->adaptive ? at[i]->taps : axis->kernel;
        lost[i] = axis->adaptive
                      ? 0
                      : (at[i]->first - pgi_axis_taps(axis, at[i]->begin).first) / axis->dilation;
        step[i] = axis->adaptive ? 0 : (at[i]->step - axis->stride) / axis->dilation;
    }
    if (layer) /* a plane is another tap of every window; the final counts them */
        lost[0] = 0;
    for (t = 0; t < melee->taps; t++) {
        const int64_t column = t % at[2]->taps, line = t / at[2]->taps;
        const int64_t row = line % at[1]->taps, plane = line / at[1]->taps;

        melee->place[t] = (int32_t)(((lost[0] + plane) * kernel[1] + lost[1] + row) * kernel[2] +
                                    lost[2] + column);
    }
    melee->place_step = (int32_t)step[2];
    melee->row_place = (int32_t)(uint32_t)((uint64_t)step[1] * (uint64_t)kernel[2]);
}

/* The taps of windows that are alike, from the first window on; `tapped`: that is what their places
 * are. */
static void set_taps(const pgi_arena *arena, const pgi_stretch *const at[3], bool layer,
                     bool tapped, pgi_melee *melee)
{
    const int64_t *stride = arena->tensor->stride + PGI_SPATIAL, *begin = arena->box.begin;
    const int64_t count[] = {pgi_box_step(&arena->box, 0), pgi_box_step(&arena->box, 1),
                             pgi_box_step(&arena->box, 2)};
    int64_t i, j, k;

    melee->taps = 0;
    melee->columns = (int)at[2]->taps;
    for (i = 0; i < at[0]->taps; i++) {
        for (j = 0; j < at[1]->taps; j++) {
            const int64_t d = i * arena->taps[0].q, h = j * arena->taps[1].q;
            const int64_t offset = d * stride[0] + h * stride[1];
            const int64_t row =
                inside(&arena->box, 0, at[0]->first + d) && inside(&arena->box, 1, at[1]->first + h)
                    ? (at[0]->first + d - begin[0]) * count[0] +
                          (at[1]->first + h - begin[1]) * count[1]
                    : PGI_NOWHERE;

            for (k = 0; k < at[2]->taps; k++) {
                const int64_t w = k * arena->taps[2].q, p = at[2]->first + w;

                melee->offset[melee->taps] = offset + w * stride[2];
                melee->place[melee->taps++] =
                    (int32_t)(row + (inside(&arena->box, 2, p) ? (p - begin[2]) * count[2]
                                                               : PGI_NOWHERE));
            }
        }
    }
    melee->step = at[2]->step * stride[2];
    melee->row_step = at[1]->step * stride[1];
    melee->place_step = (int32_t)(at[2]->step * count[2]);
    melee->row_place = (int32_t)(at[1]->step * count[1]);
    if (tapped)
        name_taps(arena, at, layer, melee);
    melee->neighbours = melee->step == 1 ? PGI_SIDE_BY_SIDE
                        : melee->step == 2 && stride[2] == 1 && melee->columns > 1 ? PGI_EVERY_OTHER
                                                                                   : PGI_APART;
}

static const pgi_stretch *stretch_of(const pgi_arena *arena, int axis, int64_t o)
{
    const pgi_stretch *stretch = arena->stretches[axis];

    while (o >= stretch->end)
        stretch++;
    return stretch;
}

/* How many rows every window shares with the one below where there is a loop for that: of 3x3 taps
 * with stride 2 the last, with stride 1, of one lane, the last two. */
static int rows_shared(const pgi_arena *arena, const pgi_stretch *const at[3])
{
    if (at[1]->end - at[1]->begin < 2 || at[0]->taps != 1 || at[1]->taps != 3 || at[2]->taps != 3)
        return 0;
    if (at[1]->step == 2 * arena->taps[1].q)
        return 1;
    return arena->lanes == 1 && at[1]->step == arena->taps[1].q &&
                   at[2]->step * arena->tensor->stride[PGI_SPATIAL + 2] == 1
               ? 2
               : 0;
}

/* Where what is found goes: reals and places, row behind row, or lists. */
typedef struct pgi_found {
    char *values;
    int32_t *places;
    const pgi_lists *lists;
} pgi_found;

/* The windows of a stretch on every axis, the first of which is `row` rows and `column` columns on.
 * Returns whether there is a NaN, which in a layer is left to its user; of lists, whether they are
 * of no use, for that or another reason (pgi_arena_lists). */
static bool fight_alike(const pgi_arena *arena, const pgi_found *found, int64_t row, int64_t column,
                        const char *from, bool layer, pgi_melee *melee)
{
    const pgi_kernels *kernels = &arena->plan->kernels;
    const pgi_problem *problem = &arena->plan->problem;
    const int64_t to = row * arena->row + column * arena->lanes;
    char *values = found->values ? found->values + (size_t)to * kernels->real : NULL;
    int32_t *places = found->places ? found->places + to : NULL;

    if (found->lists) {
        pgi_lists lists = *found->lists;

        if (lists.winners)
            lists.winners +=
                (row * lists.row + column * lists.step) * (int64_t)problem->element_size;
        if (lists.taps)
            lists.taps += row * lists.tap_row + column * lists.tap_step;
        return !kernels->joust(&lists, from, melee);
    }
    if (!kernels->melee(values, places, from, melee))
        return false;
    melee->rule = rule_of(problem->desc.nan);
    if (!layer)
        kernels->melee(values, places, from, melee);
    return true;
}

/* All taps of the windows in the planes of `depth`, at once. Returns what fight_alike does. */
static bool fight(const pgi_arena *arena, const pgi_stretch *depth, bool layer, int64_t h,
                  int64_t rows, const pgi_found *found)
{
    const poolgrad_plan *plan = arena->plan;
    const int64_t left = arena->windows[2].begin;
    const pgi_stretch *row = stretch_of(arena, 1, h);
    bool nan = false;
    pgi_stretch these; /* the first of the rows */
    int64_t done, i;

    for (done = 0; done < rows; done += these.end - these.begin, row++) {
        these = *row;
        these.begin = h + done;
        these.end = pgi_min(these.end, h + rows);
        these.first += (these.begin - row->begin) * row->step;
        /* long stretches first: what the others need of a row of x is then in the cache, and memory
         * is read from beginning to end */
        for (i = 0; i < 2 * arena->count[2]; i++) {
            const pgi_stretch *column = &arena->stretches[2][i % arena->count[2]];
            const pgi_stretch *const at[3] = {depth, &these, column};
            const int64_t windows = column->end - column->begin;
            const bool late = i >= arena->count[2];
            const char *from;
            pgi_melee melee; /* large */

            if (late == (windows >= PGI_FULL_VECTOR))
                continue;
            melee.rule = PGI_RULE_PLAIN;
            melee.rows = these.end - these.begin;
            melee.windows = windows;
            melee.lanes = arena->lanes;
            melee.to_row = arena->row;
            melee.kept = (pgi_kept){NULL, NULL, rows_shared(arena, at)};
            set_taps(arena, at, layer, arena->tapped || found->lists, &melee);
            if (melee.kept.rows > 0) {
                melee.kept.values = arena->workspace + arena->layout->kept.values;
                melee.kept.places =
                    (int32_t *)(void *)(arena->workspace + arena->layout->kept.places);
            }
            from =
                arena->x + pgi_row_offset(arena->tensor, depth->first, these.first, column->first) *
                               (int64_t)plan->problem.element_size;
            nan |= fight_alike(arena, found, done, column->begin - left, from, layer, &melee);
            if (nan && (layer || found->lists))
                return true;
        }
    }
    return nan;
}

/* The layer of a plane of x: what is best of it in all windows of the region. */
static pgi_candidates layer_of(const pgi_arena *arena, int64_t plane)
{
    const int64_t cells =
        plane % arena->taps[0].axis.kernel * pgi_length(arena->windows[1]) * arena->row;
    const pgi_candidates *layers = &arena->layout->layers;

    return (pgi_candidates){layers->values + (size_t)cells * arena->plan->kernels.real,
                            layers->places + (size_t)cells * sizeof(int32_t)};
}

/* The winners of rows of windows by layers, each plane of x once. False if one has a NaN, of which
 * a final knows nothing. */
static bool fight_by_layers(pgi_arena *arena, const pgi_stretch *depth, int64_t h, int64_t rows,
                            char *values, int32_t *places)
{
    const pgi_gather *taps = arena->taps;
    const pgi_range down = arena->windows[1];
    const int64_t before = (h - down.begin) * arena->row;
    const int64_t lost = depth->first - pgi_axis_taps(&taps[0].axis, depth->begin).first;
    pgi_final final = {.layers = (int)depth->taps, .count = rows * arena->row};
    int k;

    for (k = 0; k < depth->taps; k++) {
        const int64_t plane = depth->first + k;
        const pgi_candidates layer = layer_of(arena, plane);
        char *layer_values = arena->workspace + layer.values;
        int32_t *layer_places = (int32_t *)(void *)(arena->workspace + layer.places);
        const pgi_found found = {layer_values, places ? layer_places : NULL, NULL};
        bool *nan = &arena->nan[plane % taps[0].axis.kernel];

        if (plane >= arena->next) {
            const pgi_stretch alone = {
                .begin = depth->begin, .end = depth->begin + 1, .taps = 1, .first = plane};

            *nan = fight(arena, &alone, true, down.begin, pgi_length(down), &found);
            arena->next = plane + 1;
        }
        if (*nan)
            return false;
        final.values[k] = layer_values + (size_t)before * arena->plan->kernels.real;
        final.places[k] = layer_places + before;
        if (arena->tapped)
            final.further[k] = (int32_t)((lost + k) * taps[1].axis.kernel * taps[2].axis.kernel);
    }
    arena->plan->kernels.final(values, places, &final);
    return true;
}

void pgi_arena_enter(pgi_arena *arena, const char *x, int64_t lanes)
{
    arena->x = x;
    arena->lanes = lanes;
    arena->row = pgi_length(arena->windows[2]) * lanes;
    arena->next = INT64_MIN;
}

/* The window d. */
static pgi_stretch depth_of(const pgi_arena *arena, int64_t d)
{
    pgi_stretch one = *stretch_of(arena, 0, d);

    one.first += (d - one.begin) * one.step;
    one.begin = d;
    return one;
}

void pgi_arena_rows(pgi_arena *arena, int64_t d, int64_t h, int64_t rows, char *values,
                    int32_t *places)
{
    const pgi_found found = {values, places, NULL};
    const pgi_stretch one = depth_of(arena, d);

    if (!arena->layout->layered || one.taps < 2 ||
        !fight_by_layers(arena, &one, h, rows, values, places))
        fight(arena, &one, false, h, rows, &found);
}

bool pgi_arena_lists(const pgi_arena *arena, int64_t d, int64_t h, int64_t rows,
                     const pgi_lists *lists)
{
    const pgi_found found = {NULL, NULL, lists};
    const pgi_stretch one = depth_of(arena, d);

    return !fight(arena, &one, false, h, rows, &found);
}
