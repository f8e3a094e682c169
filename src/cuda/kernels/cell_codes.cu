// SPDX-License-Identifier: MIT
// Indices of winners as codes, channels last, for gradients that would look at every index several
// times: a thread has V channels of a window, and then of one as many windows further as the row has
// threads, so that neighbours read what lies side by side. `windows` are where the codes are stored.
// Every index is checked; one that is bad, or says that there is no winner, becomes a code that no
// tap has.
#include "cuda/kernels/cell_gradient.cuh"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/two.cuh"

// How many of two multiples of a unit something has reached.
__device__ static unsigned multiples(unsigned n, unsigned unit)
{
    return (n >= unit ? 1u : 0) + (n >= 2 * unit ? 1u : 0);
}

template <typename Name, int K, int R>
__device__ static void make_codes(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    constexpr int V = PGI_CELL_WIDTH(2);
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x, window = v / cell.groups;
    const unsigned row = window / cell.segments;
    const int od = (int)(row / (unsigned)cell.out[1]);
    const int oh = (int)row - od * cell.out[1];
    const int channel = (int)(v - window * cell.groups) * V;
    const int begin = (int)(window - row * cell.segments), end = cell.out[2];
    const int step = (int)cell.segments;
    const pgi_cell_reach slices = pgi_cell_reach::of_slices<K, R>(cell, od);
    const pgi_cell_reach rows = pgi_cell_reach::of<K>(oh, cell.pad[1], cell.in[1], cell.in[2]);
    const unsigned area = (unsigned)cell.area, width = (unsigned)cell.in[2];
    const unsigned first = (unsigned)tap_code(R == 3 ? max(0, cell.pad[0] - 2 * od) : 0,
                                              max(0, cell.pad[1] - 2 * oh), 0);
    const bool vectors = cell.vectors && (uintptr_t)memory.indices % 16 == 0;

    admit_next_step();
    if (v >= cell.inner)
        return;
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const pgi_cell_plane plane = {(int)u, channel};
        const Name *names = (const Name *)memory.indices + plane.offset(cell.names) +
                            (place_offset(cell.names, od, oh) + begin * cell.names.place[2]);
        uint8_t *codes = (uint8_t *)memory.indices_out + plane.offset(cell.windows) +
                         (place_offset(cell.windows, od, oh) + begin * cell.windows.place[2]);
        int64_t origin[V]; // the index of the first place of the slices
        pgi_vector<Name, V> next;

#pragma unroll
        for (int i = 0; i < V; i++)
            origin[i] = plane.index(cell) + i * cell.index_channel + slices.first;
        load_vector(names, &next, vectors);
#pragma unroll 1
        for (int ow = begin; ow < end; ow += step) {
            const pgi_cell_reach columns = pgi_cell_reach::of<K>(ow, cell.pad[2], cell.in[2], 1);
            const pgi_vector<Name, V> name = next;
            const Name *const here = names;
            pgi_vector<uint8_t, V> made;
            bool good = true;

            names += ow + step < end ? step * cell.names.place[2] : 0;
            load_vector(names, &next, vectors);
#pragma unroll
            for (int i = 0; i < V; i++) {
                const int64_t place = (int64_t)name.e[i] - origin[i];
                const unsigned beyond = (unsigned)place;
                const unsigned in_slice = R == 3 ? modulo<K>(beyond, area) : beyond;
                const unsigned in_rows = in_slice - (unsigned)rows.first;
                const unsigned column = modulo<K>(in_rows, width);
                const bool tap = (place >> 32 == 0) & (beyond < (unsigned)slices.count) &
                                 (in_rows < (unsigned)rows.count) & columns.holds(column);
                const unsigned code = first + (R == 3 ? multiples(beyond, area) << 4 : 0) +
                                      (multiples(in_rows, width) << 2) + column -
                                      (unsigned)(2 * ow - cell.pad[2]);

                good &= tap;
                made.e[i] = (uint8_t)(tap ? code : PGI_TWO_NOWHERE);
            }
            *(pgi_vector<uint8_t, V> *)codes = made;
            codes += step * cell.windows.place[2];
            if (!good) {
                const pgi_cell_suspects<Name> one = {here, 0, od, oh, ow, 1, V};

                examine<Name, K, R>(&cell, &one, &plane, memory.bad);
            }
        }
    }
}

#define CODES(width, name)                                                                         \
    extern "C" __global__ void __launch_bounds__(256) pgi_cell_codes_33_lanes_##width(             \
        const __grid_constant__ pgi_cuda_cell cell, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        make_codes<name, 3, 3>(cell, memory);                                                      \
    }

CODES(64, int64_t)
CODES(32, uint32_t)
