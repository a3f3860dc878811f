/* SPDX-License-Identifier: BSD-2-Clause */
#include "rt.h"
long sys3(long n, long a, long b, long c);

#if defined __aarch64__
__asm__(".text\n.global _start\n.type _start,%function\n_start: mov x29,#0\n mov x30,#0\n mov "
        "x0,sp\n and sp,x0,#-16\n bl rt_start\n brk #1\n"
        ".global sys3\n.type sys3,%function\nsys3: mov x8,x0\n mov x0,x1\n mov x1,x2\n mov "
        "x2,x3\n svc #0\n ret\n");
enum { SYS_WRITE = 64, SYS_EXIT = 94 };
#elif defined __arm__
__asm__(
    ".text\n.syntax unified\n.arm\n.balign 4\n.global _start\n.type _start,%function\n_start: "
    "mov fp,#0\n mov lr,#0\n mov r0,sp\n bic sp,sp,#7\n bl rt_start\n udf #0\n"
    ".global sys3\n.type sys3,%function\nsys3: push {r7,lr}\n mov r7,r0\n mov r0,r1\n mov "
    "r1,r2\n mov r2,r3\n svc #0\n pop {r7,pc}\n");
enum { SYS_WRITE = 4, SYS_EXIT = 248 };
#elif defined __riscv
__asm__(
    ".text\n.global _start\n.type _start,%function\n_start: .option push\n.option norelax\n la "
    "gp,__global_pointer$\n.option pop\n mv a0,sp\n andi sp,sp,-16\n call rt_start\n ebreak\n"
    ".global sys3\n.type sys3,%function\nsys3: mv a7,a0\n mv a0,a1\n mv a1,a2\n mv a2,a3\n "
    "ecall\n ret\n");
enum { SYS_WRITE = 64, SYS_EXIT = 94 };
#endif

void *memcpy(void *d, const void *s, uptr n)
{
    u8 *p = d;
    const u8 *q = s;
    while (n--)
        *p++ = *q++;
    return d;
}
void *memset(void *d, int c, uptr n)
{
    u8 *p = d;
    while (n--)
        *p++ = (u8)c;
    return d;
}
void *memmove(void *d, const void *s, uptr n)
{
    u8 *p = d;
    const u8 *q = s;
    if (p < q)
        while (n--)
            *p++ = *q++;
    else
        while (n--)
            p[n] = q[n];
    return d;
}
int memcmp(const void *a, const void *b, uptr n)
{
    const u8 *p = a, *q = b;
    for (; n; n--, p++, q++)
        if (*p != *q)
            return *p < *q ? -1 : 1;
    return 0;
}

void put_str(const char *s)
{
    long n = 0;
    while (s[n])
        n++;
    sys3(SYS_WRITE, 1, (long)s, n);
}
void put_num(u64 v)
{
    char b[24];
    int i = 23;
    b[i] = 0;
    do { /* division by 10 with shifts only: needs no division routine on A32 */
        u64 q = 0, r = 0;
        for (int k = 63; k >= 0; k--) {
            r = r << 1 | (v >> k & 1);
            if (r >= 10) {
                r -= 10;
                q |= 1ull << k;
            }
        }
        b[--i] = (char)('0' + r);
        v = q;
    } while (v);
    put_str(b + i);
}

static u32 seed = 2463534242u;
void rnd_seed(u32 s)
{
    seed = s ? s : 1;
}
u32 rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

__attribute__((used)) void rt_start(long *sp)
{
    int scale = 1;
    if (sp[0] > 1) {
        const char *p = (const char *)sp[2];
        scale = 0;
        while (*p >= '0' && *p <= '9')
            scale = scale * 10 + (*p++ - '0');
    }
    int r = run(scale);
    put_num((u32)r);
    put_str("\n");
    sys3(SYS_EXIT, r & 127, 0, 0);
    for (;;) {
    }
}
