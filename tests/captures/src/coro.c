/* SPDX-License-Identifier: BSD-2-Clause */
/* hand-made coroutines: returns that do not match their calls, as in any context switch */
#include "rt.h"
void co_switch(void **save, void *to);
#if defined __aarch64__
__asm__(".text\n.balign 4\n.global co_switch\n.type co_switch,%function\nco_switch: stp "
        "x19,x20,[sp,#-96]!\n stp x21,x22,[sp,#16]\n stp x23,x24,[sp,#32]\n stp "
        "x25,x26,[sp,#48]\n stp x27,x28,[sp,#64]\n"
        " stp x29,x30,[sp,#80]\n mov x9,sp\n str x9,[x0]\n mov sp,x1\n ldp x29,x30,[sp,#80]\n "
        "ldp x27,x28,[sp,#64]\n ldp x25,x26,[sp,#48]\n ldp x23,x24,[sp,#32]\n ldp "
        "x21,x22,[sp,#16]\n ldp x19,x20,[sp],#96\n ret\n");
enum { LR = 11, WORDS = 12 };
#elif defined __arm__
__asm__(".text\n.syntax unified\n.arm\n.balign 4\n.global co_switch\n.type "
        "co_switch,%function\nco_switch: push {r4-r11,lr}\n str sp,[r0]\n mov sp,r1\n pop "
        "{r4-r11,pc}\n");
enum { LR = 8, WORDS = 9 };
#elif defined __riscv
__asm__(".text\n.balign 4\n.global co_switch\n.type co_switch,%function\nco_switch: addi "
        "sp,sp,-112\n sd ra,0(sp)\n sd s0,8(sp)\n sd s1,16(sp)\n sd s2,24(sp)\n sd s3,32(sp)\n "
        "sd s4,40(sp)\n sd s5,48(sp)\n sd s6,56(sp)\n"
        " sd s7,64(sp)\n sd s8,72(sp)\n sd s9,80(sp)\n sd s10,88(sp)\n sd s11,96(sp)\n sd "
        "sp,0(a0)\n mv sp,a1\n ld ra,0(sp)\n ld s0,8(sp)\n ld s1,16(sp)\n ld s2,24(sp)\n ld "
        "s3,32(sp)\n ld s4,40(sp)\n ld s5,48(sp)\n"
        " ld s6,56(sp)\n ld s7,64(sp)\n ld s8,72(sp)\n ld s9,80(sp)\n ld s10,88(sp)\n ld "
        "s11,96(sp)\n addi sp,sp,112\n ret\n");
enum { LR = 0, WORDS = 14 };
#endif
enum { NCO = 5 };
static u64 stacks[NCO][512];
static void *ctx[NCO], *mainctx;
static int cur;
static u32 acc[NCO];
static NOINLINE void yield_(void)
{
    int c = cur;
    co_switch(&ctx[c], mainctx);
}
static NOINLINE u32 work(u32 d, u32 x)
{
    if (d == 0) {
        yield_();
        return x + 1;
    }
    return work(d - 1, x * 3 + d) + work(d - 1, x ^ d);
}
static void body(void)
{
    for (;;) {
        acc[cur] += work(2 + (u32)cur % 3, acc[cur]);
    }
}
int run(int scale)
{
    u32 r = 0;
    for (int i = 0; i < NCO; i++) {
        uptr top = ((uptr)&stacks[i][512]) & ~(uptr)63;
        uptr *f = (uptr *)top - 16;
        f[LR] = (uptr)body;
        ctx[i] = f;
    }
    for (int k = 0; k < scale * 10; k++) {
        cur = (int)(rnd() % NCO);
        co_switch(&mainctx, ctx[cur]);
        r += acc[cur];
    }
    return (int)r;
}
