/* SPDX-License-Identifier: MIT */
/* Steps of a plan that overlap: a kernel may begin while the one before it ends. */
#ifndef PGI_CUDA_KERNELS_STEP_CUH
#define PGI_CUDA_KERNELS_STEP_CUH

/* Once all blocks have said this, or ended, those of the next step may begin. */
__device__ inline void admit_next_step()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Until the step before has ended; what it wrote is then there. In every kernel of a step that may
 * begin early, before anything that the other writes or reads is touched. */
__device__ inline void await_last_step()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif
