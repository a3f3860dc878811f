/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of the OpenCSD interface that these headers describe. */
#ifndef ARM_OCSD_IF_VERSION_H_INCLUDED
#define ARM_OCSD_IF_VERSION_H_INCLUDED

#include <stdint.h>

/* Structs and numbers are those of 1.3.3.  A program that defines TRACKWAY_OPENCSD_API as 0x10701
   before it includes anything gets those of 1.7.1, and must run with
   TRACKWAY_OPENCSD_VERSION=1.7.1 in its environment. */
#if defined(TRACKWAY_OPENCSD_API) && TRACKWAY_OPENCSD_API >= 0x10701
#define OCSD_HAS_1_7 1
#else
#define OCSD_HAS_1_7 0
#endif

#define OCSD_VER_MAJOR 0x1
#if OCSD_HAS_1_7
#define OCSD_VER_MINOR  0x7
#define OCSD_VER_PATCH  0x1
#define OCSD_VER_STRING "1.7.1"
#else
#define OCSD_VER_MINOR  0x3
#define OCSD_VER_PATCH  0x3
#define OCSD_VER_STRING "1.3.3"
#endif
#define OCSD_VER_NUM ((OCSD_VER_MAJOR << 16) | (OCSD_VER_MINOR << 8) | OCSD_VER_PATCH)

#define OCSD_LIB_NAME       "OpenCSD Library"
#define OCSD_LIB_SHORT_NAME "OCSD"

#endif
