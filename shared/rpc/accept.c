#include "rpc/accept.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BROKEN_MAX 64 /* broken connections one after the other */

static _Atomic int ports[RPC_ACCEPT_PORTS_MAX]; /* 0: free */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int spare = -1; /* a descriptor that makes room for a connection to be closed. Below the lock */

static void spare_open(void)
{
    if (spare < 0)
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void rpc_accept_guard(int port)
{
    pthread_mutex_lock(&lock);
    spare_open();
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < RPC_ACCEPT_PORTS_MAX; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&ports[i], &none, port))
            return;
    }
}

void rpc_accept_release(int port)
{
    bool any = false;
    for (unsigned i = 0; i < RPC_ACCEPT_PORTS_MAX; i++) {
        int own = port;
        if (port && atomic_compare_exchange_strong(&ports[i], &own, 0))
            port = 0; /* once */
        any |= atomic_load(&ports[i]) != 0;
    }
    pthread_mutex_lock(&lock);
    if (!any && spare >= 0) {
        close(spare);
        spare = -1;
    }
    pthread_mutex_unlock(&lock);
}

static bool is_guarded(int listener)
{
    struct sockaddr_storage own = {0};
    socklen_t size = sizeof own;
    if (getsockname(listener, (struct sockaddr *)&own, &size) != 0)
        return false;
    int port = own.ss_family == AF_INET6  ? ntohs(((struct sockaddr_in6 *)(void *)&own)->sin6_port)
               : own.ss_family == AF_INET ? ntohs(((struct sockaddr_in *)(void *)&own)->sin_port)
                                          : 0;
    for (unsigned i = 0; port && i < RPC_ACCEPT_PORTS_MAX; i++)
        if (atomic_load(&ports[i]) == port)
            return true;
    return false;
}

static int kernel_accept(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
    return (int)syscall(SYS_accept4, listener, address, length, flags);
}

/* Closes the connection that is next, in place of the spare descriptor. */
static bool refuse_next(int listener)
{
    pthread_mutex_lock(&lock);
    if (spare >= 0)
        close(spare);
    spare = -1;
    int fd = kernel_accept(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    spare_open();
    pthread_mutex_unlock(&lock);
    return fd >= 0;
}

/* Whether to try again after a failure at a guarded port. False: `errno` is as core is to see it. */
static bool accept_again(int listener, unsigned *broken)
{
    switch (errno) {
    case EAGAIN:
    case EINTR:
    case EBADF:
    case EINVAL: /* shut down: see drain.c */
    case ENOTSOCK:
    case EOPNOTSUPP:
    case EFAULT:
        return false;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        log_warn("rpc.accept", "connections cannot be taken in, and are closed: %s", strerror(errno));
        if (refuse_next(listener))
            return true;
        break;
    default: /* accept(2): errors that were pending on the new connection, which is gone */
        if (++*broken < BROKEN_MAX)
            return true;
    }
    errno = EAGAIN; /* the next connection brings an event */
    return false;
}

/* Found by gRPC core in place of libc's. */
__attribute__((visibility("default"))) int accept4(int listener, struct sockaddr *restrict address,
                                                   socklen_t *restrict length, int flags)
{
    socklen_t room = length ? *length : 0;
    unsigned broken = 0;
    for (;;) {
        if (length)
            *length = room;
        int fd = kernel_accept(listener, address, length, flags), error = errno;
        if (fd >= 0)
            return fd;
        bool guarded = is_guarded(listener);
        errno = error;
        if (!guarded || !accept_again(listener, &broken))
            return -1;
    }
}
