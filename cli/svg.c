/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct colour {
    double red, green, blue;
} colour;

/* Light to dark, so that they also work in grey. */
static const colour greens[] = {
    {247, 252, 240}, {204, 235, 197}, {123, 204, 196}, {43, 140, 190}, {8, 64, 129}};
static const colour reds[] = {
    {255, 247, 236}, {253, 212, 158}, {252, 141, 89}, {215, 48, 31}, {127, 0, 0}};

static colour blend(double value, double most)
{
    const colour *scale = value < 0 ? reds : greens;
    double at = most > 0 ? fmin(1, fabs(value) / most) * 4 : 0;
    int below = at >= 4 ? 3 : (int)at;
    double part = at - below;
    const colour *a = &scale[below], *b = &scale[below + 1];
    colour mixed = {a->red + part * (b->red - a->red), a->green + part * (b->green - a->green),
                    a->blue + part * (b->blue - a->blue)};
    return mixed;
}

static void put_escaped(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '&')
            fputs("&amp;", to);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, to);
    }
}

void cli_svg_begin(FILE *to, double width, double height, const char *title)
{
    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f "
            "%.0f' font-family='DejaVu Sans, Verdana, Helvetica, Arial, sans-serif'>\n<title>",
            width, height, width, height);
    put_escaped(to, title);
    fputs("</title>\n<defs><pattern id='pad' width='6' height='6' patternUnits='userSpaceOnUse' "
          "patternTransform='rotate(45)'><rect width='6' height='6' fill='#f4f4f2'/>"
          "<rect width='1.5' height='6' fill='#cfcdc6'/></pattern></defs>\n",
          to);
    cli_svg_rect(to, 0, 0, width, height, "fill='#ffffff'");
}

void cli_svg_end(FILE *to)
{
    fputs("</svg>\n", to);
}

void cli_svg_rect(FILE *to, double x, double y, double width, double height, const char *style)
{
    fprintf(to, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' %s/>\n", x, y, width, height,
            style);
}

void cli_svg_circle(FILE *to, double x, double y, double radius, const char *style)
{
    fprintf(to, "<circle cx='%.1f' cy='%.1f' r='%.1f' %s/>\n", x, y, radius, style);
}

void cli_svg_text(FILE *to, double x, double y, double size, const char *style, const char *format,
                  ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(to, "<text x='%.1f' y='%.1f' font-size='%.1f' %s>", x, y, size, style);
    put_escaped(to, text);
    fputs("</text>\n", to);
}

void cli_svg_cell(FILE *to, double x, double y, double width, double height, double value,
                  double most, int number)
{
    char style[96];
    colour fill = blend(value, most);
    if (value == 0)
        snprintf(style, sizeof style, "fill='#ffffff' stroke='#e3e1da' stroke-width='0.6'");
    else
        snprintf(style, sizeof style, "fill='#%02x%02x%02x' stroke='#ffffff' stroke-width='0.6'",
                 (unsigned)lround(fill.red), (unsigned)lround(fill.green),
                 (unsigned)lround(fill.blue));
    cli_svg_rect(to, x, y, width, height, style);
    if (!number || value == 0)
        return;
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    if (strlen(text) > 5)
        snprintf(text, sizeof text, "%.2g", value);
    /* One size for all cells: five characters fit. */
    double length = fmax(5, (double)strlen(text));
    double size = fmin(fmin(height * 0.42, 12), width * 1.3 / length);
    cli_svg_text(to, x + width / 2, y + height / 2 + size * 0.36, size,
                 fabs(value) > 0.55 * most ? "fill='#ffffff' text-anchor='middle'"
                                           : "fill='#223344' text-anchor='middle'",
                 "%s", text);
}

void cli_svg_scale(FILE *to, double x, double y, double height, double lo, double hi)
{
    enum {
        STEPS = 32
    };
    double most = fmax(fabs(lo), fabs(hi));
    for (int i = 0; i < STEPS; i++) {
        char style[64];
        double value = hi - (hi - lo) * (i + 0.5) / STEPS;
        colour fill = blend(value, most);
        snprintf(style, sizeof style, "fill='#%02x%02x%02x' shape-rendering='crispEdges'",
                 (unsigned)lround(fill.red), (unsigned)lround(fill.green),
                 (unsigned)lround(fill.blue));
        /* A little taller than a step, or thin white lines would show between them. */
        cli_svg_rect(to, x, y + height * i / STEPS, 16, height / STEPS + 0.4, style);
    }
    cli_svg_rect(to, x, y, 16, height, "fill='none' stroke='#9a9890' stroke-width='0.8'");
    for (int i = 0; i <= 4; i++)
        cli_svg_text(to, x + 22, y + height * i / 4 + 4, 11, "fill='#445'", "%.3g",
                     hi - (hi - lo) * i / 4);
}
