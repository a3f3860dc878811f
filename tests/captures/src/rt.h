/* SPDX-License-Identifier: BSD-2-Clause */
/* Tiny run-time for the logged programs: no C library, Linux system calls only. */
#ifndef RT_H
#define RT_H
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long uptr;
int run(
    int scale); /* each program supplies this; the result is printed and is the exit status & 127 */
void put_str(const char *s);
void put_num(u64 v);
u32 rnd(void); /* xorshift32 */
void rnd_seed(u32 s);
void *memcpy(void *d, const void *s, uptr n);
void *memset(void *d, int c, uptr n);
void *memmove(void *d, const void *s, uptr n);
int memcmp(const void *a, const void *b, uptr n);
#define NOINLINE __attribute__((noinline))
#endif
