/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: whether a request of a browser is answered.  Any texts of every length up to more than a token's, or
   none; what is taken of them lies inside, and no capture is named that is not there.  How HTTP itself is read is
   libmicrohttpd's. */
#include "proof/reader.h"
#include "serve/request.h"

enum { TEXT = 36, CAPTURES = 3 };

static char texts[TEXT + 1], token[TEXT + 1];
static const char *given; /* for a token */

/* What snprintf promises: a text that fits, with its end. */
int snprintf(char *out, size_t size, const char *format, ...)
{
    (void)format;
    Frama_C_make_unknown(out, size - 1);
    out[size - 1] = 0;
    return Frama_C_interval(0, 1000);
}

static const char *member(void *context, const char *key)
{
    (void)context;
    if (key[0] == 'k')
        return given;
    return any_bool() ? texts + Frama_C_interval(0, TEXT) : 0;
}

static void prove(void)
{
    struct serve_door door = { .port = (uint16_t)Frama_C_interval(0, 65535),
                               .captures = CAPTURES };
    struct serve_asked asked = { .member = member };
    struct serve_request request;
    unsigned status;

    Frama_C_make_unknown(door.token, SERVE_TOKEN);
    Frama_C_make_unknown(texts, TEXT);
    Frama_C_make_unknown(token, TEXT);
    asked.method = texts + Frama_C_interval(0, TEXT);
    asked.path = texts + Frama_C_interval(0, TEXT);
    asked.host = member(0, "");
    asked.origin = member(0, "");
    status = serve_check(&request, &door, &asked);
    //@ assert status == 200 || status == 400 || status == 403 || status == 404 || status == 405;
    if (status != 200)
        return;
    //@ assert request.capture < CAPTURES;
    //@ assert request.what <= SERVE_TILES;
}

int main(void)
{
    prove();
    //@ loop unroll TEXT + 1;
    for (unsigned length = 0; length <= TEXT; length++) {
        given = token + TEXT - length;
        prove();
        //@ slevel merge;
        FORGET;
    }
    return 0;
}
