/* SPDX-License-Identifier: MIT */
/*
 * The local normalised cross-correlation of image registration (as in VoxelMorph): squared, over
 * 9x9x9 windows of a volume of half a brain scan's resolution, and its gradient by the moving
 * volume.
 */
#include "windows.h"

/* VoxelMorph adds 1e-5 to a product of two sums over 729 elements; here they are means. */
#define SMALL (1e-5 / (729.0 * 729.0))

static double slopes(size_t count, const float *const mean[MEANS], float *const slope[SLOPES])
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        float a = mean[MEAN_A][i], b = mean[MEAN_B][i];
        float cross = mean[MEAN_AB][i] - a * b;
        float fixed = mean[MEAN_AA][i] - a * a, moving = mean[MEAN_BB][i] - b * b;
        float scale = 1 / (fixed * moving + (float)SMALL);
        float score = cross * cross * scale;
        float by_cross = 2 * cross * scale, by_moving = -score * fixed * scale;
        slope[SLOPE_B][i] = -a * by_cross - 2 * b * by_moving;
        slope[SLOPE_BB][i] = by_moving;
        slope[SLOPE_AB][i] = by_cross;
        sum += (double)score;
    }
    return sum;
}

static double score(const double mean[MEANS])
{
    double a = mean[MEAN_A], b = mean[MEAN_B], cross = mean[MEAN_AB] - a * b;
    return cross * cross / ((mean[MEAN_AA] - a * a) * (mean[MEAN_BB] - b * b) + SMALL);
}

int main(int argc, char **argv)
{
    static const windows_loss loss = {.name = "NCC loss",
                                      .shape = "a volume of 80x96x112, 9x9x9",
                                      .problem = "avgpool3d:f32:ncdhw:1x1x80x96x112:k9:p4",
                                      .tiny_size = {11, 13, 12},
                                      .slopes = slopes,
                                      .score = score};
    return windows_main(argc, argv, &loss);
}
