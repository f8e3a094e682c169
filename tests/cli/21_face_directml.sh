# SPDX-License-Identifier: MIT
# DirectML's operators by their own names: the examples of its documentation, and what it refuses.
. "$CASES/helpers.sh"
average() {
    run face directml.AVERAGE_POOLING_GRAD "$@"
}
max() {
    run face directml.MAX_POOLING_GRAD "$@"
}
npy dy.npy 1 "$DY_HEADER" "$DY_DATA"
WINDOWS='--Strides 1,1 --WindowSize 2,2 --StartPadding 0,0 --EndPadding 0,0'
echo "the examples of the documentation"
# shellcheck disable=SC2086 # the options are several words on purpose
{
    average dy.npy --OutputGradientTensor 1,1,3,3 $WINDOWS --IncludePadding false -o dx.npy
    show dx.npy f4
    max_example
    max x.npy dy.npy $WINDOWS --Dilations 1,1 -o dx.npy
    show dx.npy f4
    fortran f.npy '<f4' '(1, 1, 3, 3)' 1 2 5 2 4 6 3 2 7
    max f.npy dy.npy $WINDOWS --Dilations 1,1 -o other.npy
    same dx.npy other.npy
    echo "halves, of which an odd number comes out"
    npy h.npy 1 "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 2, 2), }" \
        '\000\074\000\100\000\102\000\104'
    average h.npy --OutputGradientTensor 1,1,3,3 $WINDOWS --IncludePadding 1 -o half.npy
    show half.npy x2
    echo "what the calls stand for"
    average dy.npy --OutputGradientTensor 1,1,3,3 $WINDOWS --IncludePadding 0 --explain
    average dy.npy --OutputGradientTensor 1,1,3,3 $WINDOWS --IncludePadding 1 --explain
    max x.npy dy.npy $WINDOWS --Dilations 1,1 --explain
    max f.npy dy.npy $WINDOWS --Dilations 1,1 --explain
    echo "what is refused"
    average dy.npy --OutputGradientTensor 1,1,4,3 $WINDOWS --IncludePadding 0 -o no.npy
    average dy.npy --OutputGradientTensor 1,1,3,0 $WINDOWS --IncludePadding 0 -o no.npy
    average dy.npy --OutputGradientTensor 1,1,3,-3 $WINDOWS --IncludePadding 0 -o no.npy
    average dy.npy --OutputGradientTensor 1,3,3 $WINDOWS --IncludePadding 0 -o no.npy
    average dy.npy --OutputGradientTensor 1,1,3,3 $WINDOWS -o no.npy
    average dy.npy $WINDOWS --IncludePadding 0 -o no.npy
    average dy.npy --OutputGradientTensor 1,1,3,3 --WindowSize 2,2 --Strides 1 --StartPadding 0,0 \
        --EndPadding 0,0 --IncludePadding 0 -o no.npy
    average dy.npy --OutputGradientTensor 1,1,3,3 --WindowSize 2,2 --Strides 1,0 --StartPadding 0,0 \
        --EndPadding 0,0 --IncludePadding 0 -o no.npy
    average dy.npy --OutputGradientTensor 1,1,3,3 --WindowSize 2,2 --Strides 1,1 \
        --StartPadding 0,4294967296 --EndPadding 0,0 --IncludePadding 0 -o no.npy
    max i.npy dy.npy $WINDOWS --Dilations 1,1 -o no.npy
    max x.npy dy.npy $WINDOWS --Dilations 2,2 -o no.npy
    max x.npy $WINDOWS --Dilations 1,1 -o no.npy
    average dy.npy --OutputGradientTensor 1,1,3,3 $WINDOWS --Dilations 1,1 -o no.npy
}
absent no.npy
