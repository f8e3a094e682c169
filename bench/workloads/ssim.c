/* SPDX-License-Identifier: MIT */
/*
 * A structural similarity loss (Wang et al. 2004) with flat 11x11 windows on images in [0, 1], and
 * its gradient.
 */
#include "windows.h"

#define C1 0.0001 /* (0.01 * range)^2 */
#define C2 0.0009 /* (0.03 * range)^2 */

static double slopes(size_t count, const float *const mean[MEANS], float *const slope[SLOPES])
{
    const float c1 = (float)C1, c2 = (float)C2;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        float a = mean[MEAN_A][i], b = mean[MEAN_B][i];
        float luminance = 2 * a * b + c1;
        float structure = 2 * (mean[MEAN_AB][i] - a * b) + c2;
        float brightness = a * a + b * b + c1;
        float contrast = mean[MEAN_AA][i] - a * a + mean[MEAN_BB][i] - b * b + c2;
        float scale = 1 / (brightness * contrast);
        float score = luminance * structure * scale;
        slope[SLOPE_B][i] =
            2 * scale * (a * (structure - luminance) - b * score * (contrast - brightness));
        slope[SLOPE_BB][i] = -score * brightness * scale;
        slope[SLOPE_AB][i] = 2 * luminance * scale;
        sum += (double)score;
    }
    return sum;
}

static double score(const double mean[MEANS])
{
    double a = mean[MEAN_A], b = mean[MEAN_B];
    return (2 * a * b + C1) * (2 * (mean[MEAN_AB] - a * b) + C2) /
           ((a * a + b * b + C1) * (mean[MEAN_AA] - a * a + mean[MEAN_BB] - b * b + C2));
}

int main(int argc, char **argv)
{
    static const windows_loss loss = {.name = "SSIM loss",
                                      .shape = "8 RGB images of 256x256, 11x11",
                                      .problem = "avgpool2d:f32:nchw:8x3x256x256:k11",
                                      .tiny_size = {21, 25},
                                      .slopes = slopes,
                                      .score = score};
    return windows_main(argc, argv, &loss);
}
