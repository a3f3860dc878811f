/* SPDX-License-Identifier: BSD-2-Clause */
/* Where lines go.  One lock guards all outputs; callbacks are called without it. */
#include "opencsd/output.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_CALLBACK = 0x8 };

static const char default_file[] = "ocsd_trace_decode.log";

struct oc_output {
    struct oc_output *next;
    unsigned users;
    int flags; /* C_API_MSGLOGOUT_FLG_..., OUT_CALLBACK */
    char *file_name;
    FILE *file;
    const void *tree; /* whose callback it is */
    const void *context;
    FnDefLoggerPrintStrCB print;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct oc_output *all;

struct oc_output *oc_output_new(void)
{
    struct oc_output *output = calloc(1, sizeof *output);

    if (!output)
        return NULL;
    output->users = 1;
    output->flags = C_API_MSGLOGOUT_FLG_STDERR;
    (void)pthread_mutex_lock(&lock);
    output->next = all;
    all = output;
    (void)pthread_mutex_unlock(&lock);
    return output;
}

struct oc_output *oc_output_hold(struct oc_output *output)
{
    if (!output)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    output->users++;
    (void)pthread_mutex_unlock(&lock);
    return output;
}

static void close_file(struct oc_output *output)
{
    if (output->file)
        (void)fclose(output->file);
    free(output->file_name);
    output->file = NULL;
    output->file_name = NULL;
}

void oc_output_drop(struct oc_output *output)
{
    bool is_unused = false;

    if (!output)
        return;
    (void)pthread_mutex_lock(&lock);
    if (--output->users == 0) {
        struct oc_output **at = &all;

        while (*at != output)
            at = &(*at)->next;
        *at = output->next;
        is_unused = true;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!is_unused)
        return;
    close_file(output);
    free(output);
}

static void write_file(struct oc_output *output, const char *line)
{
    if (!output->file)
        output->file = fopen(output->file_name ? output->file_name : default_file, "a");
    if (!output->file)
        return;
    (void)fputs(line, output->file);
    (void)fflush(output->file);
}

void oc_output_write(struct oc_output *output, const char *line)
{
    FnDefLoggerPrintStrCB print = NULL;
    const void *context = NULL;

    if (!output)
        return;
    (void)pthread_mutex_lock(&lock);
    if (output->flags & C_API_MSGLOGOUT_FLG_STDOUT) {
        (void)fputs(line, stdout);
        (void)fflush(stdout);
    }
    if (output->flags & C_API_MSGLOGOUT_FLG_STDERR)
        (void)fputs(line, stderr);
    if (output->flags & C_API_MSGLOGOUT_FLG_FILE)
        write_file(output, line);
    if (output->flags & OUT_CALLBACK) {
        print = output->print;
        context = output->context;
    }
    (void)pthread_mutex_unlock(&lock);
    if (print)
        print(context, line, (int)strlen(line));
}

void oc_output_set(struct oc_output *output, int flags, const char *file)
{
    (void)pthread_mutex_lock(&lock);
    output->flags = flags & C_API_MSGLOGOUT_MASK;
    if (file) {
        close_file(output);
        output->file_name = *file ? malloc(strlen(file) + 1) : NULL;
        if (output->file_name)
            memcpy(output->file_name, file, strlen(file) + 1);
        if (*file)
            output->flags |= C_API_MSGLOGOUT_FLG_FILE;
        else
            output->flags &= ~C_API_MSGLOGOUT_FLG_FILE;
    }
    (void)pthread_mutex_unlock(&lock);
}

void oc_output_set_callback(struct oc_output *output, const void *tree, const void *context,
                            FnDefLoggerPrintStrCB print)
{
    (void)pthread_mutex_lock(&lock);
    output->tree = tree;
    output->context = context;
    output->print = print;
    output->flags |= OUT_CALLBACK;
    (void)pthread_mutex_unlock(&lock);
}

void oc_output_forget(const void *tree)
{
    (void)pthread_mutex_lock(&lock);
    for (struct oc_output *output = all; output; output = output->next)
        if (output->tree == tree) {
            output->tree = output->context = NULL;
            output->print = NULL;
            output->flags &= ~OUT_CALLBACK;
        }
    (void)pthread_mutex_unlock(&lock);
}
