/* SPDX-License-Identifier: BSD-2-Clause */
/* Plug-ins: shared objects with protocols of one's own, which `trackway --plugin FILE` loads.
   Stable. */
#ifndef TRACKWAY_PLUGIN_H
#define TRACKWAY_PLUGIN_H

#include <trackway/protocol.h>
#include <trackway/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when the library's soname does; programs refuse plug-ins that were built for another. */
#define TW_PLUGIN_INTERFACE (TW_VERSION_MAJOR ? TW_VERSION_MAJOR * 100 : TW_VERSION_MINOR)

/* What a plug-in brings; lasts as long as it is loaded. */
struct tw_plugin {
    size_t size;        /* sizeof(struct tw_plugin) */
    uint32_t interface; /* TW_PLUGIN_INTERFACE */
    const char *name;   /* for messages, with its version: "pulse 1.0" */
    const struct tw_custom_protocol *const *protocols;
    size_t protocol_count;
};

/* The function that a plug-in defines under the name of TW_PLUGIN_ENTRY.  NULL: it cannot be used
   here. */
typedef const struct tw_plugin *tw_plugin_fn(void);
#define TW_PLUGIN_ENTRY "trackway_plugin"
extern TW_API const struct tw_plugin *trackway_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
