/* SPDX-License-Identifier: MIT */
/* What positions get from codes and terms of windows that are the halves of words: sums in f32, or
 * in the elements' own type where at most two windows reach a position. */
#ifndef PGI_CUDA_KERNELS_TWO_BLOCK_CUH
#define PGI_CUDA_KERNELS_TWO_BLOCK_CUH

#include "cuda/kernels/cell_gradient.cuh"
#include "cuda/kernels/two.cuh"

/* The windows that reach cells, the last index but one being their order on W. SINGLE: which of
 * these a cell's second column is asked. */
template <typename Element, int K, int R, int N, int S> struct pgi_two_block {
    typedef Element T;
    static constexpr int SIDE = K - 1, DEPTH = R == 3 ? SIDE : 1, AXES = R, WORDS = N, SINGLE = S;
    unsigned code[DEPTH][SIDE][SIDE][WORDS], term[DEPTH][SIDE][SIDE][WORDS];
};

/* Of one position of cells, D, H and W: its windows in row-major order. */
template <int D, int H, int W, typename Block, typename Each>
__device__ static void ask_windows(Each each)
{
    constexpr int DEPTH = Block::DEPTH, SIDE = Block::SIDE;

#pragma unroll
    for (int a = D ? DEPTH - 1 : 0; a < DEPTH; a++)
#pragma unroll
        for (int b = H ? SIDE - 1 : 0; b < SIDE; b++)
#pragma unroll
            for (int c = W ? Block::SINGLE : 0; c < (W ? Block::SINGLE + 1 : SIDE); c++)
                each(a, b, c,
                     twice((unsigned)tap_code(cell_tap<DEPTH>(D, a), cell_tap<SIDE>(H, b),
                                              cell_tap<SIDE>(W, W ? SIDE - 1 : c))));
}

template <int D, int H, int W, typename Block>
__device__ static void sums_of(const Block &block, float (&sums)[Block::WORDS][2])
{
    typedef typename Block::T T;

#pragma unroll
    for (int i = 0; i < Block::WORDS; i++) {
        sums[i][0] = sums[i][1] = 0;
        ask_windows<D, H, W, Block>([&](int a, int b, int c, unsigned tap) {
            const unsigned term = block.term[a][b][c][i];

            add_same(block.code[a][b][c][i], tap, lower_of(term, T{}), upper_of(term, T{}),
                     &sums[i][0], &sums[i][1]);
        });
    }
}

/* The same, rounded. */
template <int D, int H, int W, typename Block>
__device__ static void results_of(const Block &block, unsigned (&results)[Block::WORDS])
{
    typedef typename Block::T T;
    constexpr int WINDOWS = (D ? 1 : Block::DEPTH) * (H ? 1 : Block::SIDE) * (W ? 1 : Block::SIDE);

    if constexpr (WINDOWS <= 2) {
#pragma unroll
        for (int i = 0; i < Block::WORDS; i++) {
            bool first = true;

            ask_windows<D, H, W, Block>([&](int a, int b, int c, unsigned tap) {
                const unsigned part = is_same(block.code[a][b][c][i], tap) & block.term[a][b][c][i];

                results[i] = first ? part : sum_of_two(results[i], part, T{});
                first = false;
            });
        }
    } else {
        float sums[Block::WORDS][2];

        sums_of<D, H, W>(block, sums);
#pragma unroll
        for (int i = 0; i < Block::WORDS; i++)
            results[i] = narrow_two(sums[i][0], sums[i][1], T{});
    }
}

#endif
