/* SPDX-License-Identifier: MIT */
#include "plan/divisors.h"

#include <math.h>
#include <string.h>

/* What a window contributes to the divisor on one axis; 0 if it covers nothing there. */
static int64_t axis_count(const pgi_problem *problem, int axis, int64_t o)
{
    if (problem->desc.divisor == POOLGRAD_OVERRIDE)
        return pgi_axis_covers(&problem->axis[axis], o);
    return pgi_axis_count(&problem->axis[axis], problem->desc.divisor, o);
}

/* All of some windows; whether they are equal. Windows lose taps only at the two ends of an axis:
 * if the outermost two have all, so have those between. */
static bool count_windows(const pgi_problem *problem, int axis, pgi_range windows, int64_t *counts)
{
    const int64_t number = windows.end - windows.begin, kernel = problem->axis[axis].kernel;
    bool equal = true, whole;
    int64_t i;

    if (number == 0)
        return true;
    counts[0] = axis_count(problem, axis, windows.begin);
    whole = !problem->axis[axis].adaptive && problem->desc.divisor != POOLGRAD_OVERRIDE &&
            counts[0] == kernel && axis_count(problem, axis, windows.end - 1) == kernel;
    for (i = 1; i < number; i++) {
        counts[i] = whole ? kernel : axis_count(problem, axis, windows.begin + i);
        equal &= counts[i] == counts[0];
    }
    return equal;
}

void pgi_divisors_measure(const int64_t windows[3], int64_t real, pgi_placement *at)
{
    int64_t all, row;

    at->fits = at->fits && pgi_add(windows[0], windows[1], &all) &&
               pgi_add(all, windows[2], &all) && pgi_add(windows[2], PGI_ROW_REALS, &row);
    if (!at->fits)
        return;
    pgi_place(at, 1, 1, all, sizeof(int64_t));
    pgi_place(at, PGI_DIVISOR_ROWS, 3, row, real);
}

void pgi_divisors_region(pgi_divisor_rows *rows, const pgi_problem *problem, size_t real,
                         const pgi_range windows[3], char *room)
{
    int64_t *counts = (int64_t *)(void *)room, all = 0;
    pgi_placement at = {0, true};
    int axis;

    rows->problem = problem;
    rows->real = real;
    rows->next = 0;
    memset(rows->known, 0, sizeof rows->known);
    for (axis = 0; axis < 3; axis++) {
        rows->windows[axis] = windows[axis];
        rows->counts[axis] = counts + all;
        rows->uniform = count_windows(problem, axis, windows[axis], rows->counts[axis]);
        all += windows[axis].end - windows[axis].begin;
    }
    pgi_place(&at, 1, 1, all, sizeof(int64_t));
    rows->room = room + (size_t)at.end;
}

int64_t pgi_divisors_outer(const pgi_divisor_rows *rows, int64_t d, int64_t h)
{
    const poolgrad_desc *desc = &rows->problem->desc;
    const int64_t outer =
        rows->counts[0][d - rows->windows[0].begin] * rows->counts[1][h - rows->windows[1].begin];

    return desc->divisor == POOLGRAD_OVERRIDE ? outer * desc->divisor_override : outer;
}

pgi_division pgi_division_by(const int64_t *counts, int64_t number, int64_t outer)
{
    const int64_t first = number > 0 ? outer * counts[0] : 0;
    int64_t o;

    for (o = 0; o < number; o++) {
        const int64_t count = outer * counts[o];

        if (count >= 1 << 21 || count <= -(1 << 21))
            return PGI_DIVIDE;
    }
    return number == 1 && first > 0 && (first & (first - 1)) == 0 ? PGI_MULTIPLY : PGI_QUOTIENT;
}

/* h is cut by a step back where rounding took it too far: c * h is exact in a double, or rounded
 * once behind the 1, which it is subtracted from. */
static void make_narrow(int64_t count, float *high, float *low)
{
    const double size = fabs((double)count), inverse = 1 / size;
    float cut = (float)inverse;
    double rest;

    if ((double)cut * size > 1)
        cut = nextafterf(cut, 0);
    rest = (1 - (double)cut * size) * inverse;
    *high = count < 0 ? -cut : cut;
    *low = rest > 0 ? (float)(count < 0 ? -rest : rest) : *high * 0x1p-30F;
}

static void make_wide(int64_t count, double *high, double *low)
{
    const double size = fabs((double)count);
    double cut = 1 / size, rest = fma(-cut, size, 1);

    if (rest < 0) {
        cut = nextafter(cut, 0);
        rest = fma(-cut, size, 1);
    }
    rest /= size;
    *high = count < 0 ? -cut : cut;
    *low = rest > 0 ? (count < 0 ? -rest : rest) : *high * 0x1p-60;
}

void pgi_divisor_make(int64_t count, size_t real, int64_t at, void *divisor, void *high, void *low)
{
    if (real == sizeof(double)) {
        ((double *)divisor)[at] = (double)count;
        make_wide(count, (double *)high + at, (double *)low + at);
    } else {
        ((float *)divisor)[at] = (float)count;
        make_narrow(count, (float *)high + at, (float *)low + at);
    }
}

/* One real, as often as a vector has lanes. */
static void repeat(void *reals, size_t real)
{
    double *wide = reals;
    float *narrow = reals;
    int i;

    for (i = 1; i < PGI_ROW_REALS; i++)
        if (real == sizeof(double))
            wide[i] = wide[0];
        else
            narrow[i] = narrow[0];
}

/* Windows that cover nothing are in no run, or have the sum 0: any number but 0 will do for them.
 */
static void make_divisors(const pgi_divisor_rows *rows, int64_t outer, int64_t number,
                          void *divisors, void *highs, void *lows)
{
    const int64_t all = number > 1 ? number + PGI_ROW_REALS : number; /* the rest of a vector */
    int64_t o;

    for (o = 0; o < all; o++) {
        const int64_t count = o < number ? outer * rows->counts[2][o] : 1;

        pgi_divisor_make(count ? count : 1, rows->real, o, divisors, highs, lows);
    }
    if (number == 1) {
        repeat(divisors, rows->real);
        repeat(highs, rows->real);
        repeat(lows, rows->real);
    }
}

/* Where divisors are kept; PGI_DIVISOR_ROWS if they are not. */
static int find(const pgi_divisor_rows *rows, int64_t outer)
{
    int i = 0;

    while (i < PGI_DIVISOR_ROWS && (outer == 0 || rows->known[i].outer != outer))
        i++;
    return i;
}

const pgi_divisors *pgi_divisors_of(pgi_divisor_rows *rows, int64_t outer)
{
    const int64_t windows = rows->windows[2].end - rows->windows[2].begin;
    const int64_t number = rows->uniform ? pgi_min(1, windows) : windows;
    const size_t row = (size_t)(windows + PGI_ROW_REALS) * rows->real;
    int i = find(rows, outer);

    if (i == PGI_DIVISOR_ROWS) {
        char *room = rows->room + (size_t)(3 * rows->next) * row;

        i = rows->next;
        rows->next = (i + 1) % PGI_DIVISOR_ROWS;
        rows->known[i].outer = outer;
        rows->known[i].by = (pgi_divisors){
            .divisor = room,
            .high = room + row,
            .low = room + 2 * row,
            .step = !rows->uniform,
            .how = pgi_division_by(rows->counts[2], number, outer),
        };
        make_divisors(rows, outer, number, room, room + row, room + 2 * row);
    }
    return &rows->known[i].by;
}

int64_t pgi_divisors_of_rows(pgi_divisor_rows *rows, int64_t d, int64_t h, int64_t count,
                             const pgi_divisors *by[PGI_DIVISOR_ROWS])
{
    int64_t n, before;

    for (n = 0; n < pgi_min(count, PGI_DIVISOR_ROWS); n++) {
        const int64_t outer = pgi_divisors_outer(rows, d, h + n);
        const pgi_divisors *oldest = &rows->known[rows->next].by;

        if (find(rows, outer) == PGI_DIVISOR_ROWS) /* they take the place of the oldest */
            for (before = 0; before < n; before++)
                if (by[before] == oldest)
                    return n;
        by[n] = pgi_divisors_of(rows, outer);
    }
    return n;
}

int64_t pgi_divisors_alike(const pgi_divisor_rows *rows, int64_t w, pgi_divisors *by)
{
    const pgi_range windows = rows->windows[2];
    const int64_t *count = rows->counts[2] + (w - windows.begin);
    const size_t before = (size_t)(w - windows.begin) * rows->real;
    int64_t places = 1;

    if (rows->uniform)
        return windows.end - w;
    while (w + places < windows.end && count[places] == count[0])
        places++;
    by->divisor = (const char *)by->divisor + before;
    by->high = (const char *)by->high + before;
    by->low = (const char *)by->low + before;
    by->step = 0;
    return places;
}
