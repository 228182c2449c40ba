/* Whether robots.txt of a host lets us read a page: asks the host, and keeps its answer for a day.
 *
 *      ask ---> kept? ---> GET /robots.txt ---> 200: its rules      4xx: all is allowed
 *                               ^    '---> 3xx to a host that may be read, at most five
 *                               '--------'      5xx, no answer: all is forbidden for some minutes
 *
 * The files belong to a loop, each is kept for ROBOTS_KEEP_MS, and they are bounded in number and size. */
#ifndef RENGA_TOOL_RUNNER_ROBOTS_ASK_H
#define RENGA_TOOL_RUNNER_ROBOTS_ASK_H

#include "base/buffer.h"
#include "base/status.h"
#include "http/client.h"
#include "loop/jobs.h"

struct robots;
struct robots_file;
struct tool_runner;

#define ROBOTS_TOKEN      "renga"
#define ROBOTS_FILES_MAX  64
#define ROBOTS_BYTES_MAX  ((size_t)8 << 20) /* of all files that are kept in a loop */
#define ROBOTS_KEEP_MS    (24 * 3600 * 1000LL)
#define ROBOTS_RETRY_MS   (5 * 60 * 1000LL) /* a host that did not answer is asked again */
#define ROBOTS_TIMEOUT_MS 10000

struct robots *robots_create(void);
/* No ask is under way. */
void robots_destroy(struct robots **robots);

struct robots_ask {
    /* Set by the owner. */
    struct tool_runner *runner;
    int64_t deadline_ns;
    uint64_t job_owner;
    /* Once, from inside the loop; perhaps within robots_ask_start. OK: the page may be read. PERMISSION_DENIED: it may
     * not. UNAVAILABLE: the host does not say. CANCELLED. */
    void (*ended)(struct robots_ask *ask, const struct status *status);

    /* Its own. */
    struct transfer transfer;
    struct http_url *url; /* of the robots.txt that is asked for */
    struct robots_file *file;
    struct buffer text;
    struct job job;
    char *origin, *path;
    unsigned hops;
    bool allowed;
};

/* `url` is the page; it is borrowed during the call. */
void robots_ask_start(struct robots_ask *ask, const struct http_url *url);
/* `ended` comes soon, if it has not come. */
void robots_ask_cancel(struct robots_ask *ask);

#endif
