/* SPDX-License-Identifier: BSD-2-Clause */
/* Plug-ins of the command line. */
#include "shared/plugins.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"
#include "base/sized.h"
#include "shared/output.h"

/* A name without a folder is that of a file here, not of a library of the system. */
static void *open_file(const char *path)
{
    char *here;
    void *handle;

    if (tw_last_slash(path))
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    here = malloc(strlen(path) + sizeof "./");
    if (!here)
        return NULL;
    strcpy(here, "./");
    strcat(here, path);
    handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    free(here);
    return handle;
}

/* What the plug-in says of itself.  False: it is none that can be used, said why. */
static bool ask(struct tw_plugin *about, void *handle, const char *path)
{
    struct tw_fault fault = { TW_OK, "" };
    const struct tw_plugin *theirs;
    tw_plugin_fn *entry = NULL;

    *(void **)&entry = dlsym(handle, TW_PLUGIN_ENTRY);
    if (!entry) {
        say("%s: no plug-in: it has no function %s", path, TW_PLUGIN_ENTRY);
        return false;
    }
    theirs = entry();
    if (!theirs) {
        say("%s: the plug-in refuses", path);
        return false;
    }
    /* The number stands where it always stood: the rest may be anything. */
    if (theirs->size < offsetof(struct tw_plugin, name) ||
        theirs->interface != TW_PLUGIN_INTERFACE) {
        say("%s: the plug-in was built for interface %" PRIu32 ", this is %d: build it again",
            path, theirs->interface, TW_PLUGIN_INTERFACE);
        return false;
    }
    if (TW_SIZED_TAKE(about, theirs, "tw_plugin", &fault) != TW_OK) {
        say("%s: %s", path, fault.text);
        return false;
    }
    if (!about->protocol_count || !about->protocols) {
        say("%s: the plug-in brings no protocol", path);
        return false;
    }
    return true;
}

static bool add_protocols(struct plugins *plugins, const struct tw_plugin *about,
                          const char *path)
{
    const size_t count = plugins->protocol_count + about->protocol_count;
    const struct tw_custom_protocol **more =
        realloc(plugins->protocols, count * sizeof *plugins->protocols);

    if (!more) {
        say("out of memory");
        return false;
    }
    plugins->protocols = more;
    for (size_t i = 0; i < about->protocol_count; i++) {
        const struct tw_custom_protocol *protocol = about->protocols[i];

        if (!protocol || protocol->size < 2 * sizeof(size_t) || !protocol->name) {
            say("%s: a protocol of the plug-in has no name", path);
            return false;
        }
        plugins->protocols[plugins->protocol_count++] = protocol;
    }
    return true;
}

bool plugins_load(struct plugins *plugins, const struct options *options)
{
    const struct list *paths = &options->plugins;

    *plugins = (struct plugins){ .handle_count = 0 };
    if (!paths->count)
        return true;
    plugins->handles = calloc(paths->count, sizeof *plugins->handles);
    if (!plugins->handles) {
        say("out of memory");
        return false;
    }
    for (size_t i = 0; i < paths->count; i++) {
        void *handle = open_file(paths->items[i]);
        struct tw_plugin about;

        if (!handle) {
            const char *why = dlerror();

            say("--plugin: %s", why ? why : "out of memory");
            return false;
        }
        plugins->handles[plugins->handle_count++] = handle;
        if (!ask(&about, handle, paths->items[i]) ||
            !add_protocols(plugins, &about, paths->items[i]))
            return false;
    }
    return true;
}

void plugins_free(struct plugins *plugins)
{
    while (plugins->handle_count)
        (void)dlclose(plugins->handles[--plugins->handle_count]);
    free(plugins->handles);
    free(plugins->protocols);
    *plugins = (struct plugins){ .handle_count = 0 };
}

bool plugins_have(const struct plugins *plugins, const char *protocol)
{
    for (size_t i = 0; i < plugins->protocol_count; i++)
        if (strcmp(plugins->protocols[i]->name, protocol) == 0)
            return true;
    return false;
}
