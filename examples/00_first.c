/* SPDX-License-Identifier: MIT */
/*
 * First steps: a problem string, a plan, one execution.
 *
 * The problem is the worked example of DirectML's page on DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC:
 * 2x2 windows, stride 1, over a 3x3 input.
 */
#include <poolgrad/poolgrad.h>
#include <stdio.h>

int main(void)
{
    static const float expected[9] = {0.25F, 0.75F, 0.5F, 1, 2.5F, 1.5F, 0.75F, 1.75F, 1};
    const float dy[4] = {1, 2, 3, 4};
    float dx[9];

    poolgrad_desc desc;
    poolgrad_plan *plan = NULL;
    poolgrad_error error;
    poolgrad_buffers buffers = {.size = sizeof buffers, .dy = dy, .dx = dx};

    if (poolgrad_desc_parse("avg2d:f32:nchw:1x1x3x3:k2", &desc, &error) != POOLGRAD_OK ||
        poolgrad_plan_create(&plan, &desc, NULL, &error) != POOLGRAD_OK ||
        poolgrad_execute(plan, &buffers, &error) != POOLGRAD_OK) {
        fprintf(stderr, "%s: %s\n", poolgrad_status_text(error.status), error.message);
        poolgrad_plan_destroy(plan);
        return 1;
    }
    poolgrad_plan_destroy(plan);

    int wrong = 0;
    for (int i = 0; i < 9; i++) {
        printf("%6.2f%s", (double)dx[i], i % 3 == 2 ? "\n" : "");
        wrong += dx[i] != expected[i];
    }
    return wrong != 0;
}
