/* SPDX-License-Identifier: BSD-2-Clause */
#include "stage/position.h"

void tw_position_seek(struct tw_position *position, uint64_t offset)
{
    tw_position_find(position, offset);
}
