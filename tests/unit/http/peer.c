#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void *run(void *data)
{
    struct peer *peer = data;
    while (!atomic_load(&peer->stopping)) {
        struct pollfd waiting = {.fd = peer->listen_fd, .events = POLLIN};
        if (poll(&waiting, 1, 20) <= 0)
            continue;
        int fd = accept(peer->listen_fd, NULL, NULL);
        if (fd < 0)
            continue;
        atomic_fetch_add(&peer->accepted, 1);
        peer->serve(peer, fd);
        close(fd);
        atomic_fetch_add(&peer->closed, 1);
    }
    return NULL;
}

void peer_start(struct peer *peer, void (*serve)(struct peer *peer, int fd))
{
    memset(peer, 0, sizeof *peer);
    peer->serve = serve;
    peer->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(peer->listen_fd, (struct sockaddr *)&address, size) || listen(peer->listen_fd, 64) ||
        getsockname(peer->listen_fd, (struct sockaddr *)&address, &size))
        abort();
    peer->port = ntohs(address.sin_port);
    peer->started = pthread_create(&peer->thread, NULL, run, peer) == 0;
}

void peer_stop(struct peer *peer)
{
    if (!peer->started)
        return;
    peer->started = false;
    atomic_store(&peer->stopping, true);
    pthread_join(peer->thread, NULL);
    close(peer->listen_fd);
}

bool peer_wait_readable(struct peer *peer, int fd)
{
    while (!atomic_load(&peer->stopping)) {
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        if (poll(&waiting, 1, 10) > 0)
            return true;
    }
    return false;
}

bool peer_read_request(struct peer *peer, int fd)
{
    char text[65536];
    size_t length = 0, need = 0;
    for (;;) {
        if (!peer_wait_readable(peer, fd))
            return false;
        ssize_t got = recv(fd, text + length, sizeof text - 1 - length, 0);
        if (got <= 0)
            return false;
        length += (size_t)got;
        text[length] = '\0';
        char *end = strstr(text, "\r\n\r\n"), *size = strcasestr(text, "content-length:");
        if (end && !need)
            need = (size_t)(end + 4 - text) + (size && size < end ? strtoul(size + 15, NULL, 10) : 0);
        if (need && length >= need) {
            atomic_fetch_add(&peer->requests, 1);
            return true;
        }
    }
}

void peer_send_bytes(int fd, const void *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes = (const char *)bytes + sent;
        size -= (size_t)sent;
    }
}

void peer_send(int fd, const char *text)
{
    peer_send_bytes(fd, text, strlen(text));
}

void peer_pause(int ms)
{
    usleep((useconds_t)ms * 1000);
}

void peer_wait_left(struct peer *peer, int fd)
{
    char bytes[4096];
    while (peer_wait_readable(peer, fd))
        if (recv(fd, bytes, sizeof bytes, 0) <= 0) {
            atomic_store(&peer->left, true);
            return;
        }
}

void peer_reset_on_close(int fd)
{
    struct linger linger = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

int peer_full_listener(int *fds, int count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fds[0], (struct sockaddr *)&address, size) || listen(fds[0], 0) ||
        getsockname(fds[0], (struct sockaddr *)&address, &size))
        abort();
    for (int i = 1; i < count; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(fds[i], (struct sockaddr *)&address, size);
    }
    return ntohs(address.sin_port);
}

int raw_connect(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        abort();
    return fd;
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *raw_read_until(int fd, const char *text, int ms)
{
    static char bytes[1 << 20];
    size_t length = 0;
    bytes[0] = '\0';
    for (long end = now_ms() + ms; now_ms() < end && length < sizeof bytes - 1;) {
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        if (poll(&waiting, 1, 10) <= 0)
            continue;
        ssize_t got = recv(fd, bytes + length, sizeof bytes - 1 - length, 0);
        if (got <= 0)
            break;
        length += (size_t)got;
        bytes[length] = '\0';
        if (text && strstr(bytes, text))
            break;
    }
    return bytes;
}

struct loop *loop_started(unsigned index)
{
    struct status st = {0};
    struct loop *loop = loop_create(index);
    if (!loop_start(loop, &st))
        abort();
    return loop;
}

void loop_ended(struct loop **loop)
{
    loop_stop(*loop);
    loop_destroy(loop);
}
