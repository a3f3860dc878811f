/* SPDX-License-Identifier: BSD-2-Clause */
/* A branch that a compiler takes to go the other way than it does. */
#include "rt.h"

static NOINLINE u32 often(u32 a)
{
    return a * 3 + 1;
}

static NOINLINE u32 seldom(u32 a)
{
    return a ^ 0x55;
}

/* Nothing tells a compiler what is in here; it lays out the way first on which the number is 0. */
static volatile u32 flags[16] = { 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

static NOINLINE u32 choose(u32 n)
{
    u32 sum = 0;

    for (u32 i = 0; i < n; i++) {
        if (flags[i % 16])
            sum += often(i);
        else
            sum += seldom(sum);
    }
    return sum;
}

int run(int scale)
{
    put_num(choose((u32)scale * 100));
    return 0;
}
