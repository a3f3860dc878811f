/* SPDX-License-Identifier: BSD-2-Clause */
/* recursion: deep chains (beyond any return stack), mutual recursion, trees */
#include "rt.h"
static NOINLINE u32 ack(u32 m, u32 n)
{
    return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
static NOINLINE u32 fib(u32 n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static NOINLINE int even(u32 n);
static NOINLINE int odd(u32 n)
{
    volatile u32 k = n;
    return k == 0 ? 0 : even(k - 1) + 0;
}
static NOINLINE int even(u32 n)
{
    volatile u32 k = n;
    return k == 0 ? 1 : odd(k - 1) + 0;
}
static u32 moves;
static NOINLINE void hanoi(u32 n, u32 a, u32 b, u32 c)
{
    if (!n)
        return;
    hanoi(n - 1, a, c, b);
    moves += a * 3 + b;
    hanoi(n - 1, c, b, a);
}
struct node {
    struct node *l, *r;
    u32 key;
};
static struct node pool[512];
static u32 used;
static NOINLINE struct node *insert(struct node *t, u32 key)
{
    if (!t) {
        t = &pool[used++];
        t->key = key;
        return t;
    }
    if (key < t->key)
        t->l = insert(t->l, key);
    else
        t->r = insert(t->r, key);
    return t;
}
static NOINLINE u32 walk(const struct node *t, u32 d)
{
    return t ? walk(t->l, d + 1) + t->key * d + walk(t->r, d + 1) : 0;
}
int run(int scale)
{
    u32 s = 0;
    for (int i = 0; i < scale; i++) {
        struct node *t = 0;
        used = 0;
        memset(pool, 0, sizeof pool);
        s += ack(2, 3 + (u32)(i & 3)) + fib(8 + (u32)(i & 7)) + (u32)even(100 + (u32)(i & 63));
        hanoi(5 + (u32)(i & 3), 1, 2, 3);
        for (int k = 0; k < 60; k++)
            t = insert(t, rnd() & 1023);
        s += walk(t, 1) + moves;
    }
    return (int)s;
}
