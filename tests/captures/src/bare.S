/* SPDX-License-Identifier: BSD-2-Clause */
/* bare-metal AArch64: start in EL3, run EL2 and EL1 monitors and three EL0 tasks (QEMU "virt" board) */
    .text
    .global _start
_start:
    /* EL3 */
    adr     x0, vec3
    msr     vbar_el3, x0
    ldr     x0, =stack3_top
    mov     sp, x0
    mov     x0, #0x30                   /* RES1 */
    orr     x0, x0, #1                  /* NS */
    orr     x0, x0, #(1 << 2)           /* FIQ to EL3 */
    orr     x0, x0, #(1 << 8)           /* HVC on */
    orr     x0, x0, #(1 << 10)          /* lower level is AArch64 */
    msr     scr_el3, x0
    msr     cptr_el3, xzr
    bl      gic_init
    mov     x0, #0x3c9                  /* EL2h, masked */
    msr     spsr_el3, x0
    adr     x0, enter2
    msr     elr_el3, x0
    eret
enter2:
    adr     x0, vec2
    msr     vbar_el2, x0
    ldr     x0, =stack2_top
    mov     sp, x0
    mov     x0, #(1 << 31)
    msr     hcr_el2, x0
    mov     x0, #3
    msr     cnthctl_el2, x0
    mov     x0, #0x33ff
    msr     cptr_el2, x0
    msr     vttbr_el2, xzr
    ldr     x0, =0x30d00800
    msr     sctlr_el1, x0
    mov     x0, #0x3c5                  /* EL1h, masked */
    msr     spsr_el2, x0
    adr     x0, enter1
    msr     elr_el2, x0
    eret
enter1:
    adr     x0, vec1
    msr     vbar_el1, x0
    ldr     x0, =stack1_top
    mov     sp, x0
    mov     x0, #(3 << 20)
    msr     cpacr_el1, x0
    isb
    bl      kmain                       /* builds the tasks, returns the first in x0 */
    b       resume

    .macro  slot target
    .balign 0x80
    b       \target
    .endm

    .balign 0x800
vec3:
    .rept 8
    slot    bad
    .endr
    slot    sync3
    slot    bad
    slot    fiq3
    slot    bad
    .rept 4
    slot    bad
    .endr
    .balign 0x800
vec2:
    .rept 8
    slot    bad
    .endr
    slot    sync2
    .rept 7
    slot    bad
    .endr
    .balign 0x800
vec1:
    .rept 4
    slot    bad
    .endr
    slot    sync1k
    slot    irq1k
    slot    bad
    slot    bad
    slot    sync1u
    slot    irq1u
    .rept 6
    slot    bad
    .endr
bad:
    mov     x0, #3
    b       finish

/* EL3: SMC (x0 is bumped) and the secure timer */
sync3:
    add     x0, x0, #3
    eret
fiq3:
    sub     sp, sp, #160
    stp     x0, x1, [sp, #0]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x30, [sp, #144]
    bl      gic_ack_el3
    ldp     x0, x1, [sp, #0]
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x16, x17, [sp, #128]
    ldp     x18, x30, [sp, #144]
    add     sp, sp, #160
    eret
/* EL2: HVC */
sync2:
    cmp     x0, #5
    b.hi    1f
    lsl     x0, x0, #1
    eret
1:  sub     x0, x0, #5
    eret

/* EL1 from EL0: whole state into the task block at tpidr_el1 */
    .macro  save
    msr     tpidrro_el0, x0
    mrs     x0, tpidr_el1
    stp     x2, x3, [x0, #16]
    stp     x4, x5, [x0, #32]
    stp     x6, x7, [x0, #48]
    stp     x8, x9, [x0, #64]
    stp     x10, x11, [x0, #80]
    stp     x12, x13, [x0, #96]
    stp     x14, x15, [x0, #112]
    stp     x16, x17, [x0, #128]
    stp     x18, x19, [x0, #144]
    stp     x20, x21, [x0, #160]
    stp     x22, x23, [x0, #176]
    stp     x24, x25, [x0, #192]
    stp     x26, x27, [x0, #208]
    stp     x28, x29, [x0, #224]
    mrs     x2, tpidrro_el0
    stp     x2, x1, [x0]
    mrs     x2, sp_el0
    stp     x30, x2, [x0, #240]
    mrs     x2, elr_el1
    mrs     x3, spsr_el1
    stp     x2, x3, [x0, #256]
    .endm
sync1u:
    save
    mrs     x1, esr_el1
    bl      on_sync
    b       resume
irq1u:
    save
    bl      on_irq
resume:                                 /* x0: task block */
    msr     tpidr_el1, x0
    ldr     x1, [x0, #272]              /* its context number picks a constant writer */
    adr     x2, cidtab
    add     x2, x2, x1, lsl #4
    blr     x2
    ldp     x2, x3, [x0, #256]
    msr     elr_el1, x2
    msr     spsr_el1, x3
    ldp     x30, x2, [x0, #240]
    msr     sp_el0, x2
    ldp     x28, x29, [x0, #224]
    ldp     x26, x27, [x0, #208]
    ldp     x24, x25, [x0, #192]
    ldp     x22, x23, [x0, #176]
    ldp     x20, x21, [x0, #160]
    ldp     x18, x19, [x0, #144]
    ldp     x16, x17, [x0, #128]
    ldp     x14, x15, [x0, #112]
    ldp     x12, x13, [x0, #96]
    ldp     x10, x11, [x0, #80]
    ldp     x8, x9, [x0, #64]
    ldp     x6, x7, [x0, #48]
    ldp     x4, x5, [x0, #32]
    ldp     x2, x3, [x0, #16]
    ldp     x0, x1, [x0]
    eret
    .balign 16
cidtab:
    .irp    v, 0x111, 0x222, 0x333, 0x444
    mov     x1, #\v
    msr     contextidr_el1, x1
    isb
    ret
    .endr

/* EL1 from EL1: interrupt while waiting, faults in the kernel */
irq1k:
    sub     sp, sp, #192
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x29, [sp, #144]
    mrs     x0, elr_el1
    mrs     x1, spsr_el1
    stp     x0, x1, [sp, #160]
    str     x30, [sp, #176]
    bl      on_kirq
    b       kout
sync1k:
    sub     sp, sp, #192
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x29, [sp, #144]
    mrs     x0, elr_el1
    mrs     x1, spsr_el1
    stp     x0, x1, [sp, #160]
    str     x30, [sp, #176]
    mov     x0, sp
    mrs     x1, esr_el1
    bl      on_ksync
kout:
    ldp     x0, x1, [sp, #160]
    msr     elr_el1, x0
    msr     spsr_el1, x1
    ldr     x30, [sp, #176]
    ldp     x18, x29, [sp, #144]
    ldp     x16, x17, [sp, #128]
    ldp     x14, x15, [sp, #112]
    ldp     x12, x13, [sp, #96]
    ldp     x10, x11, [sp, #80]
    ldp     x8, x9, [sp, #64]
    ldp     x6, x7, [sp, #48]
    ldp     x4, x5, [sp, #32]
    ldp     x2, x3, [sp, #16]
    ldp     x0, x1, [sp]
    add     sp, sp, #192
    eret

    .global finish, idle_wait, k_brk, k_load, u_svc, u_udf, u_load, u_jump, k_hvc, k_smc
idle_wait:                              /* interrupts on, wait, off */
    msr     daifclr, #2
    wfi
    msr     daifset, #2
    ret
k_brk:
    brk     #7
    ret
k_load:
    ldr     w0, [x0]
    ret
k_hvc:
    hvc     #1
    ret
k_smc:
    smc     #0
    ret
u_svc:                                  /* x8: number */
    mov     x8, x0
    mov     x0, x1
    svc     #5
    ret
u_udf:
    udf     #0
    ret
u_load:
    ldr     w0, [x0]
    ret
u_jump:
    br      x0
finish:                                 /* stop the machine: semihosting exit */
    adr     x1, exitblk
    str     x0, [x1, #8]
    mov     x0, #0x18
    hlt     #0xf000
    b       .
    .balign 16
exitblk:
    .quad   0x20026, 0
    .bss
    .balign 16
    .skip   4096
stack3_top:
    .skip   4096
stack2_top:
    .skip   16384
stack1_top:
