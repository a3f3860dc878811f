/* SPDX-License-Identifier: BSD-2-Clause */
/* Every sub-command, each in the file of its name. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "shared/options.h"

extern const struct command command_info, command_frames, command_packets, command_decode,
    command_stats, command_pack, command_snapshot, command_channels, command_encode,
    command_check_sequence, command_sim;
extern const struct command command_branches, command_calls, command_coverage, command_index;

#endif
