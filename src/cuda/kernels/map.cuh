/* SPDX-License-Identifier: MIT */
/* Boxes of tensors that the copy engine moves while threads do something else. From compute
 * capability 9.0 on; before, no maps are there. */
#ifndef PGI_CUDA_KERNELS_MAP_CUH
#define PGI_CUDA_KERNELS_MAP_CUH

#include "cuda/kernels/map.h"

__device__ inline unsigned shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* Boxes on their way to shared memory, one after the other. All threads of a block wait for each.
 */
struct pgi_arrival {
    uint64_t *barrier;   /* in shared memory */
    unsigned parity = 0; /* of the box that is waited for next */

    /* By one thread, before a barrier of the block. */
    __device__ void begin() const
    {
#if __CUDA_ARCH__ >= 900
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }

    /* By one thread: all of the planes from `channel` on. The box has so many bytes; `to` is a
     * multiple of 128. */
    __device__ void fetch(void *to, const pgi_cuda_map &map, int channel, int batch,
                          int bytes) const
    {
#if __CUDA_ARCH__ >= 900
        asm volatile(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
            "r"(bytes)
            : "memory");
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %3, %4}], [%5];" ::"r"(shared_address(to)),
                     "l"(map.words), "r"(channel), "r"(0), "r"(batch), "r"(shared_address(barrier))
                     : "memory");
#endif
    }

    __device__ void await()
    {
#if __CUDA_ARCH__ >= 900
        unsigned arrived = 0;

        while (!arrived)
            asm volatile("{\n"
                         ".reg .pred arrived;\n"
                         "mbarrier.try_wait.parity.shared.b64 arrived, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, arrived;\n"
                         "}"
                         : "=r"(arrived)
                         : "r"(shared_address(barrier)), "r"(parity)
                         : "memory");
        parity ^= 1;
#endif
    }
};

/* What a thread has written to shared memory, or read there, the engine sees, or may write over,
 * behind a barrier of the block. */
__device__ inline void hand_over()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Boxes on their way from shared memory to a tensor, which the thread waits for that sends them:
 * a box has one row. */
__device__ inline void send_row(const pgi_cuda_map &map, const void *from, int channel, int row,
                                int batch)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group "
                 "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(map.words),
                 "r"(channel), "r"(0), "r"(row), "r"(batch), "r"(shared_address(from))
                 : "memory");
#endif
}

__device__ inline void await_sent()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

#endif
