/* SPDX-License-Identifier: BSD-2-Clause */
/* indirect calls: tables, virtual dispatch, jump tables, tail calls, callbacks */
#include "rt.h"
#if defined MIX && defined __arm__
#define AFN __attribute__((target("arm"))) /* every other function in A32 */
#define TFN __attribute__((target("thumb")))
#else
#define AFN
#define TFN
#endif
typedef u32 (*op_t)(u32, u32);
#define OP(n, e)                                                                               \
    static NOINLINE TFN u32 op##n(u32 a, u32 b)                                                \
    {                                                                                          \
        return e;                                                                              \
    }
#define OA(n, e)                                                                               \
    static NOINLINE AFN u32 op##n(u32 a, u32 b)                                                \
    {                                                                                          \
        return e;                                                                              \
    }
/* clang-format off */
OP(0, a + b)
OA(1, a - b)
OP(2, a ^ b)
OA(3, a * 5 + b)
OP(4, (a << 3) | (b & 7))
OA(5, a & ~b)
OP(6, a > b ? a : b)
OA(7, a + 1)
OP(8, b + 3)
OA(9, a ^ (a >> 7))
OP(10, (a & 1) ? b : a)
OA(11, a - 9)
OP(12, a | b)
OA(13, a + (b << 1))
OP(14, ~a)
OA(15, a)
static const op_t ops[16] = { op0, op1, op2, op3, op4, op5, op6, op7,
                              op8, op9, op10, op11, op12, op13, op14, op15 };
/* clang-format on */
struct shape;
struct vt {
    u32 (*area)(struct shape *);
    void (*grow)(struct shape *, u32);
    u32 (*kind)(struct shape *);
};
struct shape {
    const struct vt *v;
    u32 w, h;
};
static u32 a_rect(struct shape *s)
{
    return s->w * s->h;
}
static u32 a_tri(struct shape *s)
{
    return s->w * s->h / 2;
}
static u32 a_sq(struct shape *s)
{
    return s->w * s->w;
}
static void g_both(struct shape *s, u32 k)
{
    s->w += k;
    s->h += k;
}
static void g_one(struct shape *s, u32 k)
{
    s->w += k;
}
static u32 k1(struct shape *s)
{
    (void)s;
    return 1;
}
static u32 k2(struct shape *s)
{
    return s->v->area(s) & 3;
} /* nested virtual call */
static const struct vt vrect = { a_rect, g_both, k1 }, vtri = { a_tri, g_both, k2 },
                       vsq = { a_sq, g_one, k2 };
static NOINLINE u32 pick(u32 k, u32 x)
{
    switch (k) { /* dense: a jump table */
    case 0:
        return x + 11;
    case 1:
        return x * 3;
    case 2:
        return x ^ 0x55;
    case 3:
        return x >> 2;
    case 4:
        return x << 1;
    case 5:
        return x - 77;
    case 6:
        return ~x;
    case 7:
        return x & 0xff0;
    case 8:
        return x | 9;
    case 9:
        return x + x;
    case 10:
        return 5;
    default:
        return x;
    }
}
static NOINLINE u32 tail3(u32 x, u32 n)
{
    return ops[(x + n) & 15](x, n);
} /* tail call through a pointer */
static NOINLINE AFN u32 tail2(u32 x, u32 n)
{
    return tail3(x + 2, n ^ 1);
}
static NOINLINE TFN u32 tail1(u32 x, u32 n)
{
    return n & 1 ? tail2(x, n) : tail3(x, n);
}
static NOINLINE AFN void each(u32 *v, int n, void (*f)(u32 *, void *), void *c)
{
    for (int i = 0; i < n; i++)
        f(&v[i], c);
}
static void addc(u32 *p, void *c)
{
    *p += *(u32 *)c;
}
static void mixc(u32 *p, void *c)
{
    *p ^= (*p << 5) + *(u32 *)c;
}
int run(int scale)
{
    struct shape sh[12];
    u32 v[16], s = 1;
    for (u32 i = 0; i < 12; i++) {
        sh[i].v = i % 3 == 0 ? &vrect : i % 3 == 1 ? &vtri : &vsq;
        sh[i].w = i + 1;
        sh[i].h = 3 * i + 2;
    }
    for (u32 i = 0; i < 16; i++)
        v[i] = i * 77;
    for (int k = 0; k < scale * 20; k++) {
        u32 r = rnd();
        s = ops[r & 15](s, r >> 4);
        s = ops[(r >> 8) & 15](s, s >> 3);
        s += pick((r >> 12) % 12, s);
        struct shape *p = &sh[(r >> 20) % 12];
        p->v->grow(p, r & 3);
        s += p->v->area(p) + p->v->kind(p);
        s = tail1(s, r >> 16);
        if ((k & 15) == 0)
            each(v, 16, (r & 0x800) ? addc : mixc, &s);
    }
    return (int)(s ^ v[3]);
}
