/* SPDX-License-Identifier: MIT */
/*
 * A descriptor filled by hand: SAME padding, what resolve fills in, and what an error says.
 */
#include <inttypes.h>
#include <poolgrad/poolgrad.h>
#include <stdio.h>
#include <string.h>

/* Resolves a copy of *desc that should be refused with `want`, and shows the message. */
static int refused(poolgrad_desc desc, poolgrad_status want)
{
    poolgrad_error error;
    poolgrad_status status = poolgrad_desc_resolve(&desc, &error);
    printf("refused with %d (%s): %s\n", (int)status, poolgrad_status_text(status), error.message);
    return status == want && error.status == want && strlen(error.message) > 0;
}

int main(void)
{
    poolgrad_desc desc;
    poolgrad_error error;

    /* Two batches of three channels, 5 rows of 7; windows of 2 by 3, stride 2. */
    poolgrad_desc_init(&desc);
    desc.batch = 2;
    desc.channels = 3;
    desc.in[0] = 5;
    desc.in[1] = 7;
    desc.kernel[0] = 2;
    desc.kernel[1] = 3;
    desc.stride[0] = desc.stride[1] = 2;
    desc.divisor = POOLGRAD_EXCLUDE;
    desc.dy.layout = desc.dx.layout = POOLGRAD_NXC;
    if (poolgrad_desc_set_padding(&desc, POOLGRAD_SAME_UPPER, &error) != POOLGRAD_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    /* The same problem as text, for a log or a bug report. */
    char text[256];
    poolgrad_desc_print(&desc, text, sizeof text, NULL, NULL);
    printf("%s\n", text);

    /* What is wrong is said by field, value and rule; nothing is printed by the library. */
    poolgrad_desc wrong = desc;
    wrong.stride[1] = 0;
    int ok = refused(wrong, POOLGRAD_ERR_ATTRIBUTE);
    wrong = desc;
    wrong.out[0] = 4;
    ok &= refused(wrong, POOLGRAD_ERR_SHAPE);
    wrong = desc;
    wrong.in[0] = INT64_MAX;
    ok &= refused(wrong, POOLGRAD_ERR_OVERFLOW);

    /* resolve is the question "how large is dy, and how does it lie in memory?". */
    if (poolgrad_desc_resolve(&desc, &error) != POOLGRAD_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int axis = 0; axis < 2; axis++) {
        printf("axis %d: pads %" PRId64 ",%" PRId64 " out %" PRId64 "\n", axis, desc.pad_lo[axis],
               desc.pad_hi[axis], desc.out[axis]);
    }
    for (int axis = 0; axis < 4; axis++) {
        printf("dy axis %d: extent %" PRId64 " stride %" PRId64 "\n", axis, desc.dy.extent[axis],
               desc.dy.stride[axis]);
    }

    /* SAME: out = ceil(in / stride); 5 rows need 1 row of padding, which UPPER puts at the end. */
    ok &= desc.out[0] == 3 && desc.pad_lo[0] == 0 && desc.pad_hi[0] == 1;
    ok &= desc.out[1] == 4 && desc.pad_lo[1] == 1 && desc.pad_hi[1] == 1;
    ok &= desc.dy.stride[1] == 1 && desc.dy.stride[3] == 3 && desc.dy.stride[2] == 12;
    return ok ? 0 : 1;
}
