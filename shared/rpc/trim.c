#include "rpc/trim.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#define DRAIN_POLL_MS 2000
#define SPARE_MORE                                                                                                     \
    ((size_t)16 << 20) /* bytes that must have come on top since the last trim: it takes 0.1 ms a MiB                  \
                        */

static struct timer trim_timer;
static struct loop *trim_loop;
static size_t spare_kept; /* bytes that the last trim could not return, code and stacks included */

static size_t resident_size(void)
{
    char text[64];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = '\0';
    char *second = text;
    strtoul(text, &second, 10);
    return strtoul(second, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Resident bytes that no allocation accounts for. */
static size_t spare_size(void)
{
    struct mallinfo2 info = mallinfo2();
    size_t resident = resident_size(), used = info.uordblks + info.hblkhd;
    return resident > used ? resident - used : 0;
}

static void trim_measured(struct timer *timer)
{
    size_t spare = spare_size();
    if (spare > spare_kept + SPARE_MORE) {
        malloc_trim(0);
        spare = spare_kept = spare_size();
    }
    if (spare < spare_kept)
        spare_kept = spare;
    loop_arm_after(trim_loop, timer, DRAIN_POLL_MS);
}

void rpc_trim_start(struct loop *loop)
{
    trim_loop = loop;
    spare_kept = 0;
    trim_timer.expired = trim_measured;
    loop_enter(loop);
    loop_arm_after(loop, &trim_timer, DRAIN_POLL_MS);
    loop_leave(loop);
}

void rpc_trim_stop(void)
{
    loop_enter(trim_loop);
    loop_disarm(trim_loop, &trim_timer);
    loop_leave(trim_loop);
}
