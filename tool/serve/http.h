/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of `trackway serve`: HTTP on the loopback interface. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve/request.h"
#include "serve/view.h"

struct serve_http {
    struct serve_door door;
    struct serve_views *views;
    struct MHD_Daemon *daemon;
};

/* On this port, 0: any that is free; door.port is then known.  False: said why. */
bool serve_http_start(struct serve_http *http, struct serve_views *views, uint16_t port);
void serve_http_stop(struct serve_http *http);

#endif
