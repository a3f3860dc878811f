/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel and tasks of the bare-metal program; see bare.S */
typedef unsigned int u32;
typedef unsigned long u64;
struct task {
    u64 x[31], sp, pc, psr, cid;
    int done;
};
_Static_assert(__builtin_offsetof(struct task, sp) == 248 &&
                   __builtin_offsetof(struct task, pc) == 256 &&
                   __builtin_offsetof(struct task, cid) == 272,
               "layout used by bare.S");
enum { NT = 3 };
static struct task task[NT];
static u64 stacks[NT][512];
static int cur;
static u32 nirq, nkirq, nfiq, nsvc, nfault, nkfault;
volatile u32 result;
#define REG(a) (*(volatile u32 *)(a))
#define GICD   0x08000000ul
#define GICC   0x08010000ul
#define HOLE   0x50000000ul /* nothing answers there */
#ifndef QUANTUM
#define QUANTUM 400
#endif
#ifndef ROUNDS
#define ROUNDS 40
#endif
void finish(u64 code) __attribute__((noreturn));
void idle_wait(void), k_brk(void);
u64 k_load(u64), k_hvc(u64), k_smc(u64), u_svc(u64, u64), u_load(u64);
void u_udf(void), u_jump(u64);

/* EL3 */
void gic_init(void)
{
    REG(GICD) = 0;
    REG(GICD + 0x80) = ~(1u << 29); /* all group 1, but the secure timer group 0 */
    REG(GICD + 0x100) = 1u << 30 | 1u << 29;
    REG(GICD) = 3;
    REG(GICC + 4) = 0xff;
    REG(GICC) = 1 | 2 | 8; /* both groups on, group 0 as FIQ */
    __asm__ volatile("msr cntps_tval_el1, %0; msr cntps_ctl_el1, %1" ::"r"(5000ul), "r"(1ul));
}
void gic_ack_el3(void)
{
    u32 i = REG(GICC + 12);
    nfiq++;
    __asm__ volatile("msr cntps_tval_el1, %0" ::"r"(7000ul));
    REG(GICC + 16) = i;
}

/* EL1 */
static void arm_timer(u64 t)
{
    __asm__ volatile("msr cntp_tval_el0, %0; msr cntp_ctl_el0, %1; isb" ::"r"(t), "r"(1ul));
}
static struct task *next_task(void)
{
    for (int k = 1; k <= NT; k++) {
        int c = (cur + k) % NT;
        if (!task[c].done) {
            cur = c;
            return &task[c];
        }
    }
    /* all done: some idle waits with interrupts, kernel faults, calls to EL2 and EL3, then stop */
    for (int i = 0; i < 5; i++) {
        arm_timer(300);
        idle_wait();
    }
    for (u64 i = 0; i < 12; i++)
        result += (u32)k_hvc(i) + (u32)k_smc(i);
    for (int i = 0; i < 3; i++) {
        k_brk();
        result += (u32)k_load(HOLE + (u64)i * 8);
    }
    for (int i = 0; i < NT; i++)
        result = result * 31 + (u32)task[i].x[19];
    finish(result == 0);
}
struct task *on_irq(struct task *t)
{
    u32 i = REG(GICC + 12);
    (void)t;
    nirq++;
    arm_timer(QUANTUM + (nirq * 37 & 255));
    REG(GICC + 16) = i;
    return next_task();
}
void on_kirq(void)
{
    u32 i = REG(GICC + 12);
    nkirq++;
    __asm__ volatile("msr cntp_ctl_el0, %0; isb" ::"r"(0ul));
    REG(GICC + 16) = i;
}
struct task *on_sync(struct task *t, u64 esr)
{
    u32 ec = (u32)(esr >> 26);
    if (ec == 0x15) {
        nsvc++;
        switch (t->x[8]) {
        case 0:
            t->x[0] = (u64)cur * 100;
            return t;
        case 1:
            return next_task(); /* yield */
        case 2:
            t->x[0] = k_hvc(t->x[0] & 15) + k_smc(3);
            return t;
        default:
            t->done = 1;
            return next_task();
        }
    }
    nfault++;
    if (ec == 0x20 || ec == 0x22)
        t->pc = t->x[30]; /* bad jump: go back to the caller */
    else
        t->pc += 4; /* skip it */
    return t;
}
void on_ksync(u64 *frame, u64 esr)
{
    nkfault++;
    frame[20] += 4;
    if (esr >> 26 == 0x25)
        frame[0] = 0x55;
}

/* EL0 */
static u32 rng[NT] = { 1, 22, 333 };
static u32 rnd(int t)
{
    u32 x = rng[t];
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return rng[t] = x;
}
static __attribute__((noinline)) u32 fib(u32 n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static __attribute__((noinline)) u32 f0(u32 a)
{
    return a * 3 + 1;
}
static __attribute__((noinline)) u32 f1(u32 a)
{
    return a ^ a >> 3;
}
static __attribute__((noinline)) u32 f2(u32 a)
{
    return a + fib(a & 7);
}
static u32 (*const tab[4])(u32) = { f0, f1, f2, f0 };
static void task_main(u64 id)
{
    register u64 sum __asm__("x19") = id;
    int t = (int)id;
    for (int k = 0; k < ROUNDS; k++) {
        u32 r = rnd(t), v = r;
        for (u32 i = 0; i < (r & 63); i++)
            v = tab[v >> 5 & 3](v);
        sum += v;
        if ((r & 0x700) == 0x100)
            sum += u_svc(0, 0);
        if ((r & 0x1800) == 0x800)
            u_svc(1, 0);
        if ((r & 0x6000) == 0x2000)
            sum += u_svc(2, r);
        if ((r & 0x38000) == 0x8000)
            u_udf();
        if ((r & 0xc0000) == 0x40000)
            sum += u_load(HOLE + (r & 0xff0)) & 1;
        if ((r & 0x700000) == 0x100000)
            u_jump(HOLE + (u64)(r & 0xff0)); /* instruction fault */
        if ((r & 0x3800000) == 0x800000)
            u_jump((u64)task_main + 2); /* misaligned PC */
    }
    __asm__ volatile("" ::"r"(sum));
    u_svc(3, 0);
    for (;;) {
    }
}
struct task *kmain(void)
{
    for (int i = 0; i < NT; i++) {
        task[i].x[0] = (u64)i;
        task[i].sp = (u64)&stacks[i][512];
        task[i].pc = (u64)task_main;
        task[i].psr = 0;
        task[i].cid = (u64)i + 1;
    }
    arm_timer(QUANTUM);
    return &task[0];
}
