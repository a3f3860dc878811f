/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens what bytes come from. */
#include "shared/stream_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <netdb.h>
#include <sys/socket.h>
#include <termios.h>
#endif

#include "base/platform.h"
#include "shared/output.h"

static const char tcp[] = "tcp:", serial[] = "serial:";

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

bool stream_input_is_live(const char *name)
{
    return strcmp(name, "-") == 0 || begins(name, tcp) || begins(name, serial);
}

#ifndef _WIN32

/* The first address that answers; -1: said why. */
static int connect_to(const char *host, const char *port)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    int fd = -1, error = getaddrinfo(host, port, &hints, &found);

    if (error) {
        say("tcp:%s:%s: %s", host, port, gai_strerror(error));
        return -1;
    }
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            error = errno;
            (void)close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0)
        say("tcp:%s:%s: %s", host, port, strerror(error ? error : errno));
    return fd;
}

/* HOST:PORT, or [HOST]:PORT where the host holds colons. */
static int open_tcp(const char *name)
{
    char *text = strdup(name + strlen(tcp));
    char *colon = text ? strrchr(text, ':') : NULL, *host = text;
    int fd = -1;

    if (!text) {
        say("out of memory");
        return -1;
    }
    if (!colon || !colon[1] || colon == text) {
        say("%s: write tcp:HOST:PORT", name);
    } else {
        *colon = 0;
        if (host[0] == '[' && colon[-1] == ']') {
            colon[-1] = 0;
            host++;
        }
        fd = connect_to(host, colon + 1);
    }
    free(text);
    return fd;
}

static bool speed_of(speed_t *speed, unsigned long baud)
{
    static const struct {
        unsigned long baud;
        speed_t speed;
    } speeds[] = {
        { 9600, B9600 },       { 19200, B19200 },   { 38400, B38400 },
        { 57600, B57600 },     { 115200, B115200 }, { 230400, B230400 },
#ifdef B460800
        { 460800, B460800 },
#endif
#ifdef B921600
        { 921600, B921600 },
#endif
#ifdef B1000000
        { 1000000, B1000000 },
#endif
#ifdef B2000000
        { 2000000, B2000000 },
#endif
#ifdef B3000000
        { 3000000, B3000000 },
#endif
#ifdef B4000000
        { 4000000, B4000000 },
#endif
    };

    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++)
        if (speeds[i].baud == baud) {
            *speed = speeds[i].speed;
            return true;
        }
    return false;
}

/* Bytes as they come: no lines, no echo, eight bits. */
static bool make_raw(int fd, const char *name, unsigned long baud)
{
    struct termios about;
    speed_t speed = B115200;

    if (tcgetattr(fd, &about) != 0) {
        say("%s: %s", name, strerror(errno));
        return false;
    }
    if (baud && !speed_of(&speed, baud)) {
        say("%s: no such baud rate", name);
        return false;
    }
    about.c_iflag &=
        ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
    about.c_oflag &= ~(tcflag_t)OPOST;
    about.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    about.c_cflag &= ~(tcflag_t)(CSIZE | PARENB);
    about.c_cflag |= CS8 | CREAD | CLOCAL;
    about.c_cc[VMIN] = 1;
    about.c_cc[VTIME] = 0;
    if ((baud && (cfsetispeed(&about, speed) != 0 || cfsetospeed(&about, speed) != 0)) ||
        tcsetattr(fd, TCSANOW, &about) != 0) {
        say("%s: %s", name, strerror(errno));
        return false;
    }
    return true;
}

/* PATH, or PATH:BAUD; without a rate the port keeps the one it has. */
static int open_serial(const char *name)
{
    char *path = strdup(name + strlen(serial));
    char *colon = path ? strrchr(path, ':') : NULL;
    unsigned long baud = 0;
    int fd = -1;

    if (!path) {
        say("out of memory");
        return -1;
    }
    if (colon && colon[1]) {
        char *end;

        baud = strtoul(colon + 1, &end, 10);
        if (*end)
            baud = 0; /* a colon of the path */
        else
            *colon = 0;
    }
    fd = open(path, O_RDONLY | O_NOCTTY);
    if (fd < 0)
        say("%s: %s", path, strerror(errno));
    else if (!make_raw(fd, path, baud)) {
        (void)close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

#else

/* Connections and ports are no files there. */
static int open_tcp(const char *name)
{
    say("%s: not on Windows; pipe the bytes in, as \"-\"", name);
    return -1;
}

static int open_serial(const char *name)
{
    return open_tcp(name);
}

#endif

bool stream_input_open(struct stream_input *input, const char *name)
{
    *input = (struct stream_input){ .fd = -1 };
    if (strcmp(name, "-") == 0) {
        input->fd = STDIN_FILENO; /* the end of a pipe is its end */
    } else if (begins(name, tcp)) {
        input->fd = open_tcp(name);
    } else if (begins(name, serial)) {
        input->fd = open_serial(name);
    } else {
        input->fd = open(name, O_RDONLY | O_CLOEXEC);
        input->is_growing = true;
        if (input->fd < 0)
            say("%s: %s", name, strerror(errno));
    }
    return input->fd >= 0;
}

void stream_input_close(struct stream_input *input)
{
    if (input->fd > STDIN_FILENO)
        (void)close(input->fd);
    input->fd = -1;
}
