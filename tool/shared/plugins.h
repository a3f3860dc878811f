/* SPDX-License-Identifier: BSD-2-Clause */
/* Plug-ins of the command line: protocols of the user's own. */
#ifndef PLUGINS_H
#define PLUGINS_H

#include <trackway/plugin.h>

#include "shared/options.h"

struct plugins {
    void **handles;
    size_t handle_count;
    const struct tw_custom_protocol **protocols;
    size_t protocol_count;
};

/* Loads those of --plugin.  False: said why not. */
bool plugins_load(struct plugins *plugins, const struct options *options);
void plugins_free(struct plugins *plugins);
bool plugins_have(const struct plugins *plugins, const char *protocol);

#endif
