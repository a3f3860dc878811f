/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: a decoder's saved state, whatever bytes it holds and wherever it is cut: no member
   is loaded from beyond them, and one that is short leaves its mark. */
#include <__fc_builtin.h>

#include "base/state.h"

enum { SAVED = 24, MEMBER = 16 };

int main(void)
{
    //@ loop unroll SAVED + 1;
    for (unsigned size = 0; size <= SAVED; size++)
        //@ loop unroll MEMBER;
        for (unsigned count = 1; count <= MEMBER; count++) {
            uint8_t object[SAVED], member[MEMBER];
            struct tw_state state = { .bytes = object + SAVED - size,
                                      .size = size,
                                      .room = size };

            Frama_C_make_unknown((char *)state.bytes, size);
            tw_state_load(&state); /* its first eight bytes are an offset */
            //@ assert state.failed == (size < 8);
            tw_state_bytes(&state, member, count);
            //@ assert state.read <= size;
            tw_state_bytes(&state, member, count);
            //@ assert state.read <= size;
        }
    return 0;
}
