// SPDX-License-Identifier: MIT
// The gradient of max pooling over 2x2 with stride 2 from x, channels first, of elements of two
// bytes: a thread finds the winners of four windows side by side and answers at once. The second
// tap of an axis may lie outside; it is replaced by the first, which is earlier.
#include "cuda/kernels/cell_gradient.cuh"
#include "cuda/kernels/two.cuh"

// Columns of a thread.
constexpr int V = 8;

// Two rows of V columns, and the terms of their windows.
template <typename T> struct pgi_cell_fours {
    pgi_vector<T, V> x[2];
    pgi_vector<T, V / 2> dy;

    __device__ void load(const pgi_cuda_cell &cell, const T *from, int next, int column,
                         bool vectors, const T *terms, int ow, bool pairs)
    {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (vectors) {
                load_vector<true>(from + (r * next + column), &x[r]);
            } else {
#pragma unroll
                for (int c = 0; c < V; c++)
                    x[r].e[c] = load_element(from + (r * next + clamped(column + c, cell.in[2])));
            }
        }
        if (pairs) {
            load_vector<true>(terms + ow, &dy);
        } else {
#pragma unroll
            for (int j = 0; j < V / 2; j++)
                dy.e[j] = load_element(terms + clamped(ow + j, cell.out[2]));
        }
    }

    // The winner of window j of these, as a key; `code` is its tap.
    __device__ int winner(int j, int *code) const
    {
        int key[2];

#pragma unroll
        for (int r = 0; r < 2; r++) {
            const unsigned images = images_of<T>(((const unsigned *)&x[r])[j]);

            key[r] = max(key_of(images, 0, 5 - tap_code(0, r, 0)),
                         key_of(images, 1, 5 - tap_code(0, r, 1)));
        }
        *code = 5 - (max(key[0], key[1]) & 7);
        return max(key[0], key[1]);
    }
};

template <typename T>
__device__ static void gradient_fours(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x, line = v / cell.groups;
    const unsigned plane_line = line / (unsigned)cell.cells[1];
    const unsigned member = plane_line / (unsigned)cell.cells[0];
    const int oh = (int)(line - plane_line * (unsigned)cell.cells[1]);
    const int od = (int)(plane_line - member * (unsigned)cell.cells[0]);
    const int column = (int)(v - line * cell.groups) * V, ow = column / 2;
    const int room = cell.in[2] - column;
    const bool whole = cell.vectors && room >= V;
    const bool aligned = whole && is_aligned<T, V>((const T *)memory.x);
    const bool store = whole && is_aligned<T, V>((const T *)memory.target);
    const bool pairs =
        cell.pairs && ow + V / 2 <= cell.out[2] && is_aligned<T, V / 2>((const T *)memory.source);
    const bool below = 2 * oh + 1 < cell.in[1];
    const int next = below ? cell.names.place[1] : 0;
    const bool plain = cell.plain && store;

    if (v >= cell.inner)
        return;
#pragma unroll 2
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + member;
        const pgi_cell_plane plane = plane_of(cell, number);
        const T *x = (const T *)memory.x + plane.offset(cell.names);
        const T *dy = (const T *)memory.source + plane.offset(cell.windows);
        T *dx = (T *)memory.target + plane.offset(cell.positions) +
                (place_offset(cell.positions, od, 2 * oh) + column);
        pgi_cell_fours<T> fours;
        float sums[2][V];

        if (number >= cell.planes)
            return;
        fours.load(cell, x + place_offset(cell.names, od, 2 * oh), next, column, aligned,
                   dy + place_offset(cell.windows, od, clamped(oh, cell.out[1])), ow, pairs);
#pragma unroll
        for (int j = 0; j < V / 2; j++) {
            const bool there = oh < cell.out[1] && ow + j < cell.out[2];
            const float term = widen(fours.dy, j) + 0;
            int code, key = fours.winner(j, &code);

            if (key >> 16 == PGI_IMAGE_NAN && there)
                code = code_by_rules<T, 2, 2>(&cell, &cell.names, x, od, oh, ow + j);
            if (!there)
                code = -1;
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    sums[r][2 * j + c] = code == tap_code(0, r, c) ? term : 0;
        }
        if (plain) {
            store_sums<true>(cell, dx, sums[0], true, room);
            if (below)
                store_sums<true>(cell, dx + cell.positions.place[1], sums[1], true, room);
        } else {
            store_sums<false>(cell, dx, sums[0], store, room);
            if (below)
                store_sums<false>(cell, dx + cell.positions.place[1], sums[1], store, room);
        }
    }
}

#define FOURS(suffix, type)                                                                        \
    extern "C" __global__ void __launch_bounds__(256) pgi_cell_gradient_202_fours_##suffix(        \
        const __grid_constant__ pgi_cuda_cell cell, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        gradient_fours<type>(cell, memory);                                                        \
    }

FOURS(f16, pgi_f16)
FOURS(bf16, pgi_bf16)
