/* SPDX-License-Identifier: MIT */
/* Bad input: every kind gets its status and a message that names the field, and touches nothing. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const base_text = "avg2d:f32:nchw:2x3x6x8:k3x2:s2:p1x0";

#define max_text    "max2d:f32:nchw:2x3x6x8:k3x2:s2:p1x0"
#define from_x_text "max2d:f32:nchw:2x3x6x8:k3x2:s2:p1x0:from=x"
#define near_y_text "max2d:f32:nchw:2x3x6x8:k3x2:s2:p1x0:from=y:parity=tensorflow"
#define pool_text   "maxpool2d:f32:nchw:2x3x6x8:k3x2:s2:p1x0"

/* --------------------------------------------------------------- descriptors */

/* One wrong descriptor: the base problem, or `text`, with one field set. */
typedef struct wrong {
    const char *text;
    size_t offset; /* of the field; its width says what `value` is */
    enum {
        NOTHING,
        INT32,
        INT64,
        SIZE,
        DOUBLE
    } width;
    int64_t value;
    double number;
    poolgrad_status status;
    const char *message;
} wrong;

#define FIELD(name, width, value) offsetof(poolgrad_desc, name), width, value, 0
#define FACTOR(name, number)      offsetof(poolgrad_desc, name), DOUBLE, 0, number
#define TEXT_ONLY                 0, NOTHING, 0, 0

static const wrong wrongs[] = {
    {NULL, FIELD(size, SIZE, 0), POOLGRAD_ERR_STRUCT_SIZE, "desc.size is 0"},
    {NULL, FIELD(size, SIZE, offsetof(poolgrad_desc, winner) - 1), POOLGRAD_ERR_STRUCT_SIZE,
     "desc.size"},
    {NULL, FIELD(size, SIZE, sizeof(poolgrad_desc) + 8), POOLGRAD_ERR_STRUCT_SIZE, "desc.size"},
    {NULL, FIELD(size, SIZE, -1), POOLGRAD_ERR_STRUCT_SIZE, "desc.size"},
    {NULL, FIELD(size, SIZE, sizeof(poolgrad_desc) - 2), POOLGRAD_ERR_STRUCT_SIZE, "desc.size"},

    {NULL, FIELD(op, INT32, 0), POOLGRAD_ERR_ENUM, "op is 0"},
    {NULL, FIELD(op, INT32, 77), POOLGRAD_ERR_ENUM, "op is 77"},
    {NULL, FIELD(dtype, INT32, 0), POOLGRAD_ERR_ENUM, "dtype is 0"},
    {NULL, FIELD(dtype, INT32, 5), POOLGRAD_ERR_ENUM, "dtype is 5"},
    {NULL, FIELD(rounding, INT32, -1), POOLGRAD_ERR_ENUM, "rounding is -1"},
    {NULL, FIELD(divisor, INT32, 5), POOLGRAD_ERR_ENUM, "divisor is 5"},
    {NULL, FIELD(dy.layout, INT32, 4), POOLGRAD_ERR_ENUM, "dy.layout is 4"},
    {NULL, FIELD(dx.layout, INT32, 0), POOLGRAD_ERR_ENUM, "dx.layout is 0"},

    {NULL, FIELD(rank, INT32, 0), POOLGRAD_ERR_RANK, "rank is 0"},
    {NULL, FIELD(rank, INT32, 4), POOLGRAD_ERR_RANK, "rank is 4"},
    {NULL, FIELD(rank, INT32, INT32_MIN), POOLGRAD_ERR_RANK, "rank is -2147483648"},

    {NULL, FIELD(kernel[0], INT64, 0), POOLGRAD_ERR_ATTRIBUTE,
     "kernel[0] is 0; it must be at least 1"},
    {NULL, FIELD(kernel[1], INT64, -1), POOLGRAD_ERR_ATTRIBUTE, "kernel[1] is -1"},
    {NULL, FIELD(stride[1], INT64, 0), POOLGRAD_ERR_ATTRIBUTE,
     "stride[1] is 0; it must be at least 1"},
    {NULL, FIELD(stride[0], INT64, INT64_MIN), POOLGRAD_ERR_ATTRIBUTE, "stride[0]"},
    {NULL, FIELD(dilation[0], INT64, 0), POOLGRAD_ERR_ATTRIBUTE, "dilation[0] is 0"},
    {NULL, FIELD(pad_lo[0], INT64, -1), POOLGRAD_ERR_ATTRIBUTE, "pad_lo[0] is -1"},
    {NULL, FIELD(pad_hi[1], INT64, -2), POOLGRAD_ERR_ATTRIBUTE, "pad_hi[1] is -2"},
    {NULL, FIELD(divisor, INT32, POOLGRAD_OVERRIDE), POOLGRAD_ERR_ATTRIBUTE,
     "divisor_override is 0"},
    {NULL, FACTOR(alpha, (double)NAN), POOLGRAD_ERR_ATTRIBUTE, "alpha is not finite"},
    {NULL, FACTOR(alpha, (double)INFINITY), POOLGRAD_ERR_ATTRIBUTE, "alpha is not finite"},
    {NULL, FACTOR(beta, -(double)INFINITY), POOLGRAD_ERR_ATTRIBUTE, "beta is not finite"},
    {NULL, FACTOR(beta, 1e39), POOLGRAD_ERR_ATTRIBUTE, "beta is not finite in the compute type"},
    {"avg1d:f32:ncw:1x1x4:k2:adaptive:o2", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE,
     "rounding is adaptive: kernel[0]"},
    {"avg1d:f32:ncw:1x1x4:adaptive:o2:p1", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE, "adaptive"},

    {NULL, FIELD(batch, INT64, -1), POOLGRAD_ERR_SHAPE, "batch is -1"},
    {NULL, FIELD(channels, INT64, -5), POOLGRAD_ERR_SHAPE, "channels is -5"},
    {NULL, FIELD(in[1], INT64, -1), POOLGRAD_ERR_SHAPE, "in[1] is -1"},
    {NULL, FIELD(out[0], INT64, -1), POOLGRAD_ERR_SHAPE, "out[0] is -1"},
    {NULL, FIELD(out[0], INT64, 4), POOLGRAD_ERR_SHAPE, "out[0] is 4"},
    {NULL, FIELD(out[1], INT64, 3), POOLGRAD_ERR_SHAPE, "out[1] is 3"},
    {NULL, FIELD(dy.extent[0], INT64, 1), POOLGRAD_ERR_SHAPE, "dy holds [0, 1) of axis 0"},
    {NULL, FIELD(dy.extent[0], INT64, 3), POOLGRAD_ERR_SHAPE, "dy.extent[0] is 3"},
    {NULL, FIELD(dy.extent[1], INT64, 6), POOLGRAD_ERR_SHAPE, "dy.extent[1] is 6"},
    {NULL, FIELD(dy.extent[1], INT64, 1), POOLGRAD_ERR_SHAPE, "of axis 1"},
    {"avg1d:f32:ncw:1x1x0:k1:p2", TEXT_ONLY, POOLGRAD_ERR_SHAPE, "in[0] is 0 but out[0] is 4"},
    {"avg1d:f32:ncw:1x1x4:adaptive", TEXT_ONLY, POOLGRAD_ERR_SHAPE, "adaptive: out[0] is 0"},
    {"avg1d:f32:ncw:1x1x0:adaptive:o2", TEXT_ONLY, POOLGRAD_ERR_SHAPE, "adaptive: in[0] is 0"},

    {NULL, FIELD(dx.offset[2], INT64, -1), POOLGRAD_ERR_BOX, "dx.offset[2] is -1"},
    {NULL, FIELD(dx.offset[2], INT64, 7), POOLGRAD_ERR_BOX, "dx.offset[2] is 7"},
    {NULL, FIELD(dx.extent[3], INT64, 9), POOLGRAD_ERR_BOX, "dx.extent[3] is 9"},
    {NULL, FIELD(dx.extent[3], INT64, -2), POOLGRAD_ERR_BOX, "dx.extent[3] is -2"},
    {NULL, FIELD(dx.extent[2], INT64, INT64_MAX), POOLGRAD_ERR_BOX, "dx.extent[2]"},
    {NULL, FIELD(dy.offset[3], INT64, 1), POOLGRAD_ERR_BOX, "dy holds [1, 4) of axis 3"},
    {NULL, FIELD(dy.extent[2], INT64, 2), POOLGRAD_ERR_BOX, "dy holds [0, 2) of axis 2"},
    {NULL, FIELD(dy.extent[2], INT64, 4), POOLGRAD_ERR_BOX, "dy.extent[2] is 4"},

    {"avg1d:f32:ncw:1x1x5:k4611686018427387904:d3", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW,
     "(kernel[0] - 1) * dilation[0]"},
    {"avg1d:f32:ncw:1x1x5:k2:p9223372036854775807,0", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW,
     "in[0] + pad_lo[0] + pad_hi[0]"},
    {"avg1d:f32:ncw:1x1x5:k2:p4611686018427387904", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW, "pad_hi[0]"},
    {"avg1d:f32:ncw:1x1x3:k2:s9223372036854775806:p9223372036854775804,0:ceil", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "(out[0] - 1) * stride[0]"},
    {"avg3d:f32:ncdhw:1x1x3x3x3:k2147483648:p1073741824:div=include", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "the divisor"},
    {"avg1d:f32:ncw:1x1x4611686018427387904:adaptive:o2", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW,
     "in[0] * out[0]"},
    {"avg2d:f32:nchw:1879048192x1879048192x1879048192x1879048192:k1", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "elements of dx"},
    {"avg1d:f64:ncw:1x1x2305843009213693952:k1", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW,
     "the bytes of dx"},
    {"avg1d:f32:ncw:0x4611686018427387904x4611686018427387904:k1", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW,
     "dx"},
    {"avg1d:f32:strided/ncw:2x1x4:k1:dystride=9223372036854775807,0,1", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "dy"},
    {"avg1d:f32:strided/ncw:2x1x4:k1:dystride=-9223372036854775808,0,1", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "dy"},
    {"avg1d:f32:strided/ncw:2x1x4:k1:dystride=4611686018427387904,0,1", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "dy"},

    {"avg1d:f32:ncw:1x1x1152921504606846976:k1:beta=1", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW,
     "the bytes of all tensors together"},

    {max_text, FIELD(winner, INT32, 4), POOLGRAD_ERR_ENUM, "winner is 4"},
    {from_x_text, FIELD(winner, INT32, 3), POOLGRAD_ERR_ATTRIBUTE,
     "winner is POOLGRAD_NEAR_Y but parity is 1"},
    {near_y_text, FIELD(parity, INT32, 4), POOLGRAD_ERR_ATTRIBUTE,
     "winner is POOLGRAD_NEAR_Y but parity is 4"},
    {near_y_text, FIELD(x.layout, INT32, 4), POOLGRAD_ERR_ENUM, "x.layout is 4"},
    {near_y_text, FIELD(y.layout, INT32, 4), POOLGRAD_ERR_ENUM, "y.layout is 4"},
    {near_y_text, FIELD(y.extent[2], INT64, 2), POOLGRAD_ERR_BOX, "y holds [0, 2) of axis 2"},
    {NULL, FIELD(parity, INT32, 0), POOLGRAD_ERR_ENUM, "parity is 0"},
    {NULL, FIELD(parity, INT32, 6), POOLGRAD_ERR_ENUM, "parity is 6"},
    {"avg1d:f32:ncw:1x1x4:k2:parity=torch:alpha=0.5", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE,
     "parity is 4 but alpha is 0.5"},
    {"max1d:f32:ncw:1x1x4:k2:parity=onednn:beta=1", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE,
     "parity is 5 but beta is 1"},
    {"avgpool1d:f32:ncw:1x1x4:k2:parity=onnxruntime", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE,
     "parity is 3; a forward pass"},
    {pool_text, FIELD(parity, INT32, 2), POOLGRAD_ERR_ATTRIBUTE, "parity is 2; a forward pass"},
    {max_text, FIELD(index_type, INT32, 0), POOLGRAD_ERR_ENUM, "index_type is 0"},
    {max_text, FIELD(index_type, INT32, 5), POOLGRAD_ERR_ENUM, "index_type is 5"},
    {max_text, FIELD(index_base, INT32, 6), POOLGRAD_ERR_ENUM, "index_base is 6"},
    {max_text, FIELD(index_order, INT32, 3), POOLGRAD_ERR_ENUM, "index_order is 3"},
    {max_text, FIELD(indices.layout, INT32, 9), POOLGRAD_ERR_ENUM, "indices.layout is 9"},
    {from_x_text, FIELD(nan, INT32, 5), POOLGRAD_ERR_ENUM, "nan is 5"},
    {from_x_text, FIELD(x.layout, INT32, 0), POOLGRAD_ERR_ENUM, "x.layout is 0"},
    {from_x_text, FIELD(x.extent[2], INT64, 5), POOLGRAD_ERR_BOX, "x holds [0, 5) of axis 2"},
    {from_x_text, FIELD(x.extent[1], INT64, 2), POOLGRAD_ERR_SHAPE, "x holds [0, 2) of axis 1"},
    {pool_text, FIELD(y.layout, INT32, 0), POOLGRAD_ERR_ENUM, "y.layout is 0"},
    {pool_text, FIELD(x.layout, INT32, 0), POOLGRAD_ERR_ENUM, "x.layout is 0"},
    {pool_text, FIELD(nan, INT32, 0), POOLGRAD_ERR_ENUM, "nan is 0"},
    {pool_text, FIELD(x.offset[3], INT64, 1), POOLGRAD_ERR_BOX, "x holds [1, 8) of axis 3"},
    {pool_text, FIELD(y.extent[3], INT64, 9), POOLGRAD_ERR_BOX, "y.extent[3] is 9"},
    {"max2d:f32:nchw:1x1x5x4611686018427387903:k1x2:s1x2:dxbox=0+1,0+1,4+1,0+2:"
     "dybox=0+1,0+1,4+1,0+1:from=x:xbox=0+1,0+1,4+1,0+2",
     TEXT_ONLY, POOLGRAD_ERR_OVERFLOW, "the positions of a plane of x"},
    {"max2d:f32:nchw:1x1x3x3:k2:order=column:base=nxc", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE,
     "index_order is column-major"},
    {"max1d:f32:strided/ncw:2x1073741824x2:k2:index=i32:dystride=0,0,0", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "do not fit in index_type"},
    {"max1d:f32:strided/ncw:2x1073741824x2:k2:index=u32:dystride=0,0,0", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "do not fit in index_type"},
    {"max2d:f32:nchw:1x1x5x5:k2:index=u8:base=plane", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE,
     "index_type is POOLGRAD_U8, which needs index_base POOLGRAD_INDEX_WINDOW"},
    {"maxpool2d:f32:nchw:1x1x32x32:k16:index=u8:base=window", TEXT_ONLY, POOLGRAD_ERR_OVERFLOW,
     "windows have at most 255 taps"},
    {"max2d:f32:nchw:1x1x32x32:adaptive:o2x2:index=u8:base=window", TEXT_ONLY,
     POOLGRAD_ERR_OVERFLOW, "windows have at most 255 taps"},
    {"max2d:f32:nchw:1x1x5x5:k2:order=column:base=window", TEXT_ONLY, POOLGRAD_ERR_ATTRIBUTE,
     "index_order is column-major"},
    {"max3d:f32:ncdhw:1x1x1x1x1:k4294967296x4294967296x2:p2147483648x2147483648x1:base=window",
     TEXT_ONLY, POOLGRAD_ERR_OVERFLOW, "do not fit in index_type"},
    {"maxpool1d:f32:ncw:1x1x4:k2:ilayout=strided:istride=0,0,0", TEXT_ONLY, POOLGRAD_ERR_LAYOUT,
     "indices.stride[2] is 0"},
    {"avgpool1d:f32:ncw/strided:1x1x4:k2:ystride=0,0,0", TEXT_ONLY, POOLGRAD_ERR_LAYOUT,
     "y.stride[2] is 0"},

    {"avg1d:f32:ncw/strided:2x1x4:k1:dxstride=0,0,1", TEXT_ONLY, POOLGRAD_ERR_LAYOUT,
     "dx.stride[0] is 0"},
    {"avg1d:f32:ncw/strided:2x1x4:k1:dxstride=3,0,1", TEXT_ONLY, POOLGRAD_ERR_LAYOUT,
     "dx.stride[0] is 3"},
    {"avg1d:f32:ncw/strided:2x2x4:k1:dxstride=4,-8,2", TEXT_ONLY, POOLGRAD_ERR_LAYOUT,
     "dx.stride[0] is 4"},
};

static void set_field(poolgrad_desc *desc, const wrong *w)
{
    char *field = (char *)desc + w->offset;
    const int32_t narrow = (int32_t)w->value;
    const size_t size = (size_t)w->value;

    if (w->width == INT32)
        memcpy(field, &narrow, sizeof narrow);
    else if (w->width == INT64)
        memcpy(field, &w->value, sizeof w->value);
    else if (w->width == SIZE)
        memcpy(field, &size, sizeof size);
    else if (w->width == DOUBLE)
        memcpy(field, &w->number, sizeof w->number);
}

static void assert_error(const poolgrad_error *error, poolgrad_status got, poolgrad_status status,
                         const char *message)
{
    if (got != status || error->status != status || !strstr(error->message, message))
        fail_msg("status %d (expected %d), message \"%s\" (expected \"%s\")", (int)got, (int)status,
                 error->message, message);
    assert_int_equal(error->position, -1);
}

/* plan_create and resolve say the same; neither writes anything but the error. */
static void wrong_descriptors(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const wrong *w = &wrongs[i];
        poolgrad_plan *plan = (poolgrad_plan *)(uintptr_t)1;
        poolgrad_desc desc, before;
        poolgrad_error error;

        assert_int_equal(poolgrad_desc_parse(w->text ? w->text : base_text, &desc, &error),
                         POOLGRAD_OK);
        set_field(&desc, w);
        before = desc;
        assert_error(&error, poolgrad_plan_create(&plan, &desc, NULL, &error), w->status,
                     w->message);
        assert_null(plan);
        assert_error(&error, poolgrad_desc_resolve(&desc, &error), w->status, w->message);
        assert_memory_equal(&desc, &before, sizeof desc);
        assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), w->status);
    }
}

static void null_arguments(void **state)
{
    poolgrad_desc desc;
    poolgrad_plan *plan;
    poolgrad_error error;

    (void)state;
    assert_int_equal(poolgrad_desc_init(NULL), POOLGRAD_ERR_NULL);
    assert_int_equal(poolgrad_options_init(NULL), POOLGRAD_ERR_NULL);
    assert_int_equal(poolgrad_buffers_init(NULL), POOLGRAD_ERR_NULL);
    poolgrad_desc_parse(base_text, &desc, NULL);
    assert_error(&error, poolgrad_plan_create(NULL, &desc, NULL, &error), POOLGRAD_ERR_NULL,
                 "plan is NULL");
    assert_error(&error, poolgrad_plan_create(&plan, NULL, NULL, &error), POOLGRAD_ERR_NULL,
                 "desc is NULL");
    assert_error(&error, poolgrad_desc_resolve(NULL, &error), POOLGRAD_ERR_NULL, "desc is NULL");
    assert_error(&error, poolgrad_desc_reach(NULL, &error), POOLGRAD_ERR_NULL, "desc is NULL");
    assert_error(&error, poolgrad_desc_set_padding(NULL, POOLGRAD_VALID, &error), POOLGRAD_ERR_NULL,
                 "desc is NULL");
    assert_error(&error, poolgrad_execute(NULL, NULL, &error), POOLGRAD_ERR_NULL, "plan is NULL");
    assert_error(&error, poolgrad_plan_describe(NULL, NULL, &error), POOLGRAD_ERR_NULL,
                 "plan is NULL");
    poolgrad_plan_destroy(NULL);
    assert_null(poolgrad_plan_desc(NULL));
    assert_int_equal(poolgrad_plan_workspace(NULL), 0);
}

/* ------------------------------------------------------------------- options */

static void expect_options(const poolgrad_options *options, poolgrad_status status,
                           const char *message)
{
    poolgrad_desc desc;
    poolgrad_plan *plan;
    poolgrad_error error;

    poolgrad_desc_parse(base_text, &desc, NULL);
    assert_error(&error, poolgrad_plan_create(&plan, &desc, options, &error), status, message);
    assert_null(plan);
}

static void *never(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return NULL;
}

static void wrong_options(void **state)
{
    poolgrad_options options;

    (void)state;
    options = options_for(NULL, -1);
    expect_options(&options, POOLGRAD_ERR_OPTION, "options.threads is -1");
    options = options_for(NULL, 4097);
    expect_options(&options, POOLGRAD_ERR_OPTION, "options.threads is 4097");
    options = options_for("fastest", 0);
    expect_options(&options, POOLGRAD_ERR_OPTION, "options.strategy is \"fastest\"");
    options = options_for(NULL, 0);
    options.cpu = "z80";
    expect_options(&options, POOLGRAD_ERR_OPTION, "options.cpu is \"z80\"");
    options.cpu = "";
    expect_options(&options, POOLGRAD_ERR_OPTION, "options.cpu is \"\"");
    options = options_for("scatter", 0);
    expect_options(&options, POOLGRAD_ERR_UNSUPPORTED, "\"scatter\", which does not apply");
    options = options_for(NULL, 0);
    options.size = 3;
    expect_options(&options, POOLGRAD_ERR_STRUCT_SIZE, "options.size is 3");
    options = options_for(NULL, 0);
    options.allocate = never;
    expect_options(&options, POOLGRAD_ERR_NULL, "options.release is NULL");

    assert_int_equal(setenv("POOLGRAD_CPU", "pdp11", 1), 0);
    expect_options(NULL, POOLGRAD_ERR_OPTION, "environment variable POOLGRAD_CPU is \"pdp11\"");
    assert_int_equal(setenv("POOLGRAD_CPU", "scalar", 1), 0);
    {
        poolgrad_plan_info info = {.size = sizeof info};
        poolgrad_desc desc;
        poolgrad_plan *plan;

        poolgrad_desc_parse(base_text, &desc, NULL);
        assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_plan_describe(plan, &info, NULL), POOLGRAD_OK);
        assert_string_equal(info.cpu, "scalar");
        info.size = 1;
        assert_int_equal(poolgrad_plan_describe(plan, &info, NULL), POOLGRAD_ERR_STRUCT_SIZE);
        poolgrad_plan_destroy(plan);
    }
    assert_int_equal(unsetenv("POOLGRAD_CPU"), 0);
}

/* ------------------------------------------------------------------- buffers */

typedef struct scene {
    fixture f;
    poolgrad_plan *plan;
    poolgrad_buffers buffers;
    sup_memory before;
} scene;

static void scene_open(scene *s, const char *text)
{
    fixture_parse(&s->f, text, SUP_UNIFORM, 5);
    assert_int_equal(poolgrad_plan_create(&s->plan, &s->f.desc, NULL, NULL), POOLGRAD_OK);
    s->buffers = fixture_buffers(&s->f, NULL);
    s->before = copy_of_result(&s->f);
}

static void scene_expect(const scene *s, poolgrad_status status, const char *message)
{
    poolgrad_error error;

    assert_error(&error, poolgrad_execute(s->plan, &s->buffers, &error), status, message);
    assert_memory_equal(sup_is_forward(&s->f.desc) ? s->f.y.allocation : s->f.dx.allocation,
                        s->before.allocation, s->before.bytes);
}

static void scene_close(scene *s)
{
    poolgrad_plan_destroy(s->plan);
    sup_view_free(&s->before);
    fixture_free(&s->f);
}

static void wrong_buffers(void **state)
{
    char *memory;
    size_t needed;
    scene s;

    (void)state;
    scene_open(&s, base_text);
    needed = poolgrad_plan_workspace(s.plan);
    assert_true(needed > 0);
    memory = malloc(needed + s.f.dy.bytes);
    assert_non_null(memory);

    s.buffers.size = 1;
    scene_expect(&s, POOLGRAD_ERR_STRUCT_SIZE, "buffers.size is 1");
    s.buffers.size = sizeof s.buffers;
    s.buffers.dy = NULL;
    scene_expect(&s, POOLGRAD_ERR_NULL, "buffers.dy is NULL");
    s.buffers.dy = (const char *)s.f.dy.first + 2;
    scene_expect(&s, POOLGRAD_ERR_MISALIGNED, "buffers.dy is ");
    s.buffers.dy = s.f.dy.first;
    s.buffers.dx = NULL;
    scene_expect(&s, POOLGRAD_ERR_NULL, "buffers.dx is NULL");
    s.buffers.dx = (char *)s.f.dx.first + 1;
    scene_expect(&s, POOLGRAD_ERR_MISALIGNED, "a multiple of its element size, 4 bytes");
    s.buffers.dx = s.f.dx.first;
    s.buffers.dy = s.f.dx.first;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "dx and dy overlap");
    s.buffers.dy = (const char *)s.f.dx.first + s.f.dx.bytes - sizeof(float);
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "dx and dy overlap");
    s.buffers.dy = s.f.dy.first;
    s.buffers.workspace = memory;
    s.buffers.workspace_size = needed - 1;
    scene_expect(&s, POOLGRAD_ERR_WORKSPACE, "the plan needs ");
    s.buffers.workspace = s.f.dx.first;
    s.buffers.workspace_size = needed;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "the workspace and dx overlap");
    s.buffers.workspace = memory;
    s.buffers.dy = memory;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "the workspace and dy overlap");
    s.buffers.dy = s.f.dy.first;
    assert_int_equal(poolgrad_execute(s.plan, &s.buffers, NULL), POOLGRAD_OK);
    free(memory);
    scene_close(&s);
}

/* The memory that the other ops use. */
static void wrong_buffers_of_max_and_pool(void **state)
{
    int64_t indices[64];
    scene s;

    (void)state;
    scene_open(&s, max_text);
    s.buffers.indices = NULL;
    scene_expect(&s, POOLGRAD_ERR_NULL, "buffers.indices is NULL");
    s.buffers.indices = (const char *)s.f.indices.first + 4;
    scene_expect(&s, POOLGRAD_ERR_MISALIGNED, "buffers.indices is ");
    s.buffers.indices = s.f.dx.first;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "indices and dx overlap");
    scene_close(&s);
    scene_open(&s, from_x_text);
    s.buffers.x = NULL;
    scene_expect(&s, POOLGRAD_ERR_NULL, "buffers.x is NULL");
    s.buffers.x = s.f.dx.first;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "x and dx overlap");
    s.buffers.x = s.f.x.first;
    assert_int_equal(poolgrad_execute(s.plan, &s.buffers, NULL), POOLGRAD_OK);
    scene_close(&s);
    scene_open(&s, pool_text);
    s.buffers.y = NULL;
    scene_expect(&s, POOLGRAD_ERR_NULL, "buffers.y is NULL");
    s.buffers.y = s.f.y.first;
    s.buffers.x = s.f.y.first;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "y and x overlap");
    s.buffers.x = s.f.x.first;
    s.buffers.indices_out = s.f.y.first;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "indices_out and y overlap");
    s.buffers.indices_out = (char *)indices + 1;
    scene_expect(&s, POOLGRAD_ERR_MISALIGNED, "buffers.indices_out is ");
    scene_close(&s);
}

/* Byte ranges decide: interleaved views overlap, neighbours do not. */
static void neighbours(void **state)
{
    float memory[48] = {0};
    scene s;

    (void)state;
    scene_open(&s, "avg1d:f32:strided:1x1x8:k1:dystride=0,0,2:dxstride=0,0,2");
    s.buffers.dy = memory;
    s.buffers.dx = memory + 1;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "dx and dy overlap");
    s.buffers.dx = memory + 15;
    assert_int_equal(poolgrad_execute(s.plan, &s.buffers, NULL), POOLGRAD_OK);
    s.buffers.dx = memory + 14;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "dx and dy overlap");
    scene_close(&s);
    scene_open(&s, "avg1d:f32:strided:1x1x8:k1:dystride=0,0,-1:dxstride=0,0,-1");
    s.buffers.dy = memory + 15; /* occupies 8 to 15 */
    s.buffers.dx = memory + 8;
    scene_expect(&s, POOLGRAD_ERR_OVERLAP, "dx and dy overlap");
    s.buffers.dx = memory + 7;
    assert_int_equal(poolgrad_execute(s.plan, &s.buffers, NULL), POOLGRAD_OK);
    scene_close(&s);
}

/* Empty tensors need no memory. */
static void empty(void **state)
{
    scene s;

    (void)state;
    scene_open(&s, "avg2d:f32:nchw:0x3x6x8:k3");
    s.buffers.dy = s.buffers.dx = NULL;
    assert_int_equal(poolgrad_execute(s.plan, &s.buffers, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_plan_workspace(s.plan), 0);
    scene_close(&s);
    scene_open(&s, "avg2d:f32:nchw:1x1x2x2:k3");
    s.buffers.dy = NULL;
    assert_int_equal(poolgrad_execute(s.plan, &s.buffers, NULL), POOLGRAD_OK);
    assert_true(((const float *)s.f.dx.first)[3] == 0);
    scene_close(&s);
}

/* --------------------------------------------------------------------- texts */

static void status_texts(void **state)
{
    static const int known[] = {0,  10, 11, 12, 13, 14, 20, 21, 22,
                                23, 24, 25, 30, 31, 32, 33, 40, 41};
    size_t i, k;

    (void)state;
    for (i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *text = poolgrad_status_text((poolgrad_status)known[i]);

        assert_string_not_equal(text, "unknown status");
        for (k = 0; k < i; k++)
            assert_string_not_equal(text, poolgrad_status_text((poolgrad_status)known[k]));
    }
    assert_string_equal(poolgrad_status_text((poolgrad_status)99), "unknown status");
    assert_string_equal(poolgrad_version(), "0.1.0");
    assert_int_equal(poolgrad_dtype_size((poolgrad_dtype)0), 0);
    assert_null(poolgrad_name((poolgrad_name_kind)0, 0));
    assert_null(poolgrad_name(POOLGRAD_NAME_STRATEGY, 1000));
    assert_null(poolgrad_name(POOLGRAD_NAME_CPU, 1000));
    assert_null(poolgrad_name(POOLGRAD_NAME_KERNEL, 1000));
    assert_string_equal(poolgrad_name(POOLGRAD_NAME_CPU, 0), "scalar");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_descriptors),
        cmocka_unit_test(null_arguments),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(wrong_buffers),
        cmocka_unit_test(wrong_buffers_of_max_and_pool),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(empty),
        cmocka_unit_test(status_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
