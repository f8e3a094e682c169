/* SPDX-License-Identifier: MIT */
#include "core/number.h"

#include "core/environment.h"
#include "core/integer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_DECIMAL    INT64_C(999999999999999) /* 15 digits, below 2^53 */
#define MAX_DECIMAL_10 22                       /* 10^22 is the largest exact power of ten */

static int digit(char c, int base)
{
    int value = -1;

    if (c >= '0' && c <= '9')
        value = c - '0';
    else if (c >= 'a' && c <= 'f')
        value = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
        value = c - 'A' + 10;
    return value < base ? value : -1;
}

bool pgi_read_int(const char **text, int64_t *value)
{
    const bool negative = **text == '-';
    int64_t magnitude = 0; /* kept negative: INT64_MIN has no positive counterpart */

    *text += negative;
    if (digit(**text, 10) < 0)
        return false;
    for (; digit(**text, 10) >= 0; ++*text)
        if (!pgi_mul(magnitude, 10, &magnitude) ||
            !pgi_add(magnitude, -digit(**text, 10), &magnitude))
            return false;
    if (!negative && magnitude == INT64_MIN)
        return false;
    *value = negative ? magnitude : -magnitude;
    return true;
}

/* Digits with at most one point, as mantissa * base^-places. */
static bool read_digits(const char **text, int base, int64_t limit, int64_t *mantissa, int *places)
{
    bool any = false, point = false;

    *mantissa = 0;
    *places = 0;
    for (;; ++*text) {
        const int d = digit(**text, base);

        if (**text == '.' && !point) {
            point = true;
            continue;
        }
        if (d < 0)
            return any;
        if (*mantissa > (limit - d) / base)
            return false;
        *mantissa = *mantissa * base + d;
        *places += point;
        any = true;
    }
}

/* The exponent behind `letter`, 0 if there is none. */
static bool read_exponent(const char **text, char letter, int *exponent)
{
    int64_t value;

    *exponent = 0;
    if (**text != letter && **text != letter - 'a' + 'A')
        return true;
    ++*text;
    if (**text == '+' && digit((*text)[1], 10) >= 0)
        ++*text;
    if (!pgi_read_int(text, &value) || value < -5000 || value > 5000)
        return false;
    *exponent = (int)value;
    return true;
}

static double power_of_ten(int exponent)
{
    double power = 1;

    while (exponent-- > 0)
        power *= 10; /* exact to 10^22 */
    return power;
}

static bool read_decimal(const char **text, double *value)
{
    int64_t mantissa;
    int places, exponent;

    if (!read_digits(text, 10, MAX_DECIMAL, &mantissa, &places) ||
        !read_exponent(text, 'e', &exponent))
        return false;
    exponent -= places;
    if (mantissa == 0)
        exponent = 0;
    if (exponent < -MAX_DECIMAL_10 || exponent > MAX_DECIMAL_10)
        return false;
    *value = exponent < 0 ? (double)mantissa / power_of_ten(-exponent)
                          : (double)mantissa * power_of_ten(exponent);
    return true;
}

static bool read_hexadecimal(const char **text, double *value)
{
    int64_t mantissa;
    int places, exponent;

    if (!read_digits(text, 16, (INT64_C(1) << 53) - 1, &mantissa, &places) ||
        !read_exponent(text, 'p', &exponent))
        return false;
    *value = ldexp((double)mantissa, exponent - 4 * places);
    return isfinite(*value) && ldexp(*value, 4 * places - exponent) == (double)mantissa;
}

bool pgi_read_double(const char **text, double *value)
{
    const bool negative = **text == '-';
    pgi_environment caller;
    bool done;

    *text += negative;
    pgi_environment_enter(&caller);
    if ((*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X')) {
        *text += 2;
        done = read_hexadecimal(text, value);
    } else {
        done = read_decimal(text, value);
    }
    pgi_environment_leave(&caller);
    if (negative)
        *value = -*value;
    return done;
}

/* mantissa / 10^places == magnitude with a short mantissa, if there is one. */
static bool write_decimal(const char *sign, double magnitude, char text[PGI_DOUBLE_TEXT])
{
    int places;

    for (places = 0; places <= 15; places++) {
        const double power = power_of_ten(places);
        const double mantissa = rint(magnitude * power);
        int64_t whole;

        if (mantissa > (double)MAX_DECIMAL)
            return false;
        if (mantissa / power != magnitude)
            continue;
        whole = (int64_t)mantissa;
        if (places == 0)
            snprintf(text, PGI_DOUBLE_TEXT, "%s%" PRId64, sign, whole);
        else
            snprintf(text, PGI_DOUBLE_TEXT, "%s%" PRId64 ".%0*" PRId64, sign,
                     whole / (int64_t)power, places, whole % (int64_t)power);
        return true;
    }
    return false;
}

void pgi_write_double(double value, char text[PGI_DOUBLE_TEXT])
{
    const char *sign = signbit(value) ? "-" : "";
    const double magnitude = fabs(value);
    pgi_environment caller;
    int exponent;

    pgi_environment_enter(&caller);
    if (!write_decimal(sign, magnitude, text)) {
        int64_t mantissa = (int64_t)ldexp(frexp(magnitude, &exponent), 53);

        exponent -= 53;
        for (; mantissa % 2 == 0; mantissa /= 2)
            exponent++;
        snprintf(text, PGI_DOUBLE_TEXT, "%s0x%" PRIx64 "p%d", sign, (uint64_t)mantissa, exponent);
    }
    pgi_environment_leave(&caller);
}
