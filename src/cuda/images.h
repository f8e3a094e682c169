/* SPDX-License-Identifier: MIT */
/* The compiled kernels: machine code for several architectures, in the form that the driver takes.
 * The build makes the arrays, one for every file of kernels. */
#ifndef PGI_CUDA_IMAGES_H
#define PGI_CUDA_IMAGES_H

typedef struct pgi_cuda_image {
    const char *name; /* of the file, without its suffix; NULL behind the last */
    const unsigned char *bytes;
} pgi_cuda_image;

extern const pgi_cuda_image pgi_cuda_images[];

/* The newest architecture that they are for; 0: none. */
extern const int pgi_cuda_newest;

#endif
