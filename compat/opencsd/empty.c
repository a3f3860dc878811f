/* SPDX-License-Identifier: BSD-2-Clause */
/* libopencsd.so.1 holds nothing: what programs use of it comes with the C interface. */
typedef int opencsd_holds_nothing;
