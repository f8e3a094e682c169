/* SPDX-License-Identifier: MIT */
#include "face_onednn.h"

#include <string.h>

void onednn_start(onednn_call *c, int average, int spatial)
{
    const size_t count = (size_t)spatial;
    int i;

    memset(c, 0, sizeof *c);
    c->average = average;
    for (i = 0; i < 5; i++)
        c->strides[i] = c->kernel[i] = c->dilations[i] = 1;
    c->src = c->diff_dst = (poolgrad_tensor){POOLGRAD_ONEDNN_F32, spatial + 2, NULL, NULL, NULL};
    c->src.sizes = c->src_sizes;
    c->diff_dst.sizes = c->dst_sizes;
    c->diff_src = c->src;
    c->attributes.strides = (poolgrad_list){c->strides, count};
    c->attributes.pads_begin = (poolgrad_list){c->pads_begin, count};
    c->attributes.pads_end = (poolgrad_list){c->pads_end, count};
    c->attributes.kernel = (poolgrad_list){c->kernel, count};
    c->attributes.data_format = "NCX";
    if (!average)
        return;
    c->attributes.exclude_pad = &c->exclude_pad;
    c->attributes.src_shape = (poolgrad_list){c->src_sizes, count + 2};
}

void onednn_shape_as_input(onednn_call *c)
{
    int i;

    for (i = 0; i < c->diff_dst.rank && i < 5; i++)
        c->shape[i] = (int32_t)c->src_sizes[i];
    c->shape_count = c->diff_dst.rank;
    c->shape_tensor =
        (poolgrad_tensor){POOLGRAD_ONEDNN_S32, 1, &c->shape_count, NULL, (void *)c->shape};
    c->src_shape = &c->shape_tensor;
    c->attributes.src_shape = (poolgrad_list){NULL, 0};
}

poolgrad_onednn_code onednn_run(const onednn_call *c, const poolgrad_face_options *options,
                                poolgrad_error *error)
{
    if (c->average)
        return poolgrad_onednn_avg_pool_backward(&c->diff_dst, c->src_shape, &c->attributes,
                                                 &c->diff_src, options, error);
    return poolgrad_onednn_max_pool_backward(&c->src, &c->diff_dst, &c->attributes, &c->diff_src,
                                             options, error);
}

void onednn_good(onednn_call *c, int average)
{
    onednn_start(c, average, 2);
    c->src_sizes[0] = c->src_sizes[1] = c->dst_sizes[0] = c->dst_sizes[1] = 1;
    c->src_sizes[2] = c->src_sizes[3] = 3;
    c->dst_sizes[2] = c->dst_sizes[3] = c->kernel[0] = c->kernel[1] = 2;
    c->src.data = c->x;
    c->diff_dst.data = c->dy;
    c->diff_src.data = c->dx;
    memset(c->dx, 0xa5, sizeof c->dx);
}

void onednn_untouched(const onednn_call *c)
{
    const unsigned char *bytes = (const unsigned char *)c->dx;
    size_t i;

    for (i = 0; i < sizeof c->dx; i++)
        assert_int_equal(bytes[i], 0xa5);
}

void onednn_refused_with(const onednn_call *c, const poolgrad_face_options *options,
                         poolgrad_onednn_code code, const char *words)
{
    poolgrad_onednn_code got;
    poolgrad_error error;

    memset(&error, 0, sizeof error);
    got = onednn_run(c, options, &error);
    if (got != code || !strstr(error.message, words))
        fail_msg("expected %d '%s', got %d '%s'", (int)code, words, (int)got, error.message);
    assert_true(error.status != POOLGRAD_OK && strlen(error.message) > 10);
    assert_int_equal(error.position, -1);
    assert_int_equal(onednn_run(c, options, NULL), code);
    onednn_untouched(c);
}

void onednn_refused(const onednn_call *c, poolgrad_onednn_code code, const char *words)
{
    onednn_refused_with(c, NULL, code, words);
}

void onednn_accepted(const onednn_call *c)
{
    poolgrad_error error;

    if (onednn_run(c, NULL, &error))
        fail_msg("%s", error.message);
    assert_int_equal(error.status, POOLGRAD_OK);
}
