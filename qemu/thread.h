/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of the program: the blocks it runs become what its trace unit is told. */
#ifndef QEMU_THREAD_H
#define QEMU_THREAD_H

#include "qemu/blocks.h"

enum { THREADS_MAX = 8192 };

/* Instructions begun so far, counted by the translated code itself while there is one thread: what a block
   that was left by a fault had done. */
extern uint64_t thread_counter;
/* How often a mapping or code was spoken of: what runs next is later than that, and its time is to say so. */
extern uint64_t thread_news;

/* The program is about to begin: comes before anything else. */
void thread_program(void);
/* A block begins on this virtual CPU. */
void thread_block(unsigned vcpu, void *block);
/* The same for a machine, whose processors take turns. */
void thread_block_system(unsigned vcpu, void *block);
/* It is a machine: comes before anything else. */
void thread_system(void);
/* It asked the operating system for something, and came back. */
void thread_call(unsigned vcpu);
/* The program begins to run several threads: blocks are not counted from here on. */
void thread_several(void);
bool thread_is_alone(void);
/* The block that ran last on the thread that asks; NULL: none, or it is not known. */
const struct block *thread_last(void);
/* All that was run is in the trace file. */
void thread_flush(unsigned vcpu);
/* The process is about to be doubled. */
void thread_before_fork(void);
/* The thread ended; all threads did, as the process ends or crashes. */
void thread_end(unsigned vcpu);
void thread_end_all(bool is_crash);
/* This is the child of a fork: only this thread is left, and what it ran before was its parent's. */
void thread_forked(uint32_t parent_pid, uint32_t parent_tid);

#endif
