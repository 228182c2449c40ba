#include "tools/robots_ask.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "instance/tool_runner_instance.h"
#include "tools/page_hosts.h"
#include "tools/robots.h"

#include <stdlib.h>
#include <string.h>

#define ROBOTS_HOPS_MAX     5                 /* RFC 9309, 2.3.1.2 */
#define ROBOTS_RESPONSE_MAX ((size_t)4 << 20) /* bytes of an answer; of more the beginning counts */

enum robots_answer { ROBOTS_RULES, ROBOTS_ALL, ROBOTS_SILENT };

struct robots_file {
    char *origin, *text;
    size_t length;
    enum robots_answer answer;
    int64_t until_ns;
    unsigned holders; /* the list, and the asks that read it */
};

struct robots {
    struct robots_file *files[ROBOTS_FILES_MAX]; /* the oldest first */
    size_t count, bytes;
};

/* ---- files that are kept ----------------------------------------------------------------------------------------- */

static void robots_release(struct robots_file **file)
{
    if (*file && --(*file)->holders == 0) {
        free((*file)->origin);
        free((*file)->text);
        free(*file);
    }
    *file = NULL;
}

static void robots_forget(struct robots *robots, size_t place)
{
    robots->bytes -= robots->files[place]->length;
    robots_release(&robots->files[place]);
    robots->count--;
    memmove(&robots->files[place], &robots->files[place + 1], (robots->count - place) * sizeof robots->files[0]);
}

static struct robots_file *robots_find(struct robots *robots, const char *origin)
{
    int64_t now = clock_now_ns();
    for (size_t i = 0; i < robots->count; i++) {
        if (strcmp(robots->files[i]->origin, origin) != 0)
            continue;
        if (now < robots->files[i]->until_ns)
            return robots->files[i];
        robots_forget(robots, i);
        return NULL;
    }
    return NULL;
}

static void robots_keep(struct robots *robots, struct robots_file *file)
{
    if (robots_find(robots, file->origin))
        return; /* another ask was sooner */
    while (robots->count == ROBOTS_FILES_MAX || (robots->count && robots->bytes + file->length > ROBOTS_BYTES_MAX))
        robots_forget(robots, 0);
    file->holders++;
    robots->files[robots->count++] = file;
    robots->bytes += file->length;
}

struct robots *robots_create(void)
{
    return calloc(1, sizeof(struct robots));
}

void robots_destroy(struct robots **robots)
{
    while (*robots && (*robots)->count)
        robots_forget(*robots, (*robots)->count - 1);
    free(*robots);
    *robots = NULL;
}

/* ---- an ask ------------------------------------------------------------------------------------------------------ */

static void robots_finish(struct robots_ask *ask, const struct status *status)
{
    robots_release(&ask->file);
    http_url_destroy(&ask->url);
    buffer_fini(&ask->text);
    free(ask->origin);
    free(ask->path);
    ask->origin = ask->path = NULL;
    ask->ended(ask, status);
}

static void robots_rules_read(struct job *job)
{
    struct robots_ask *ask = CONTAINER_OF(job, struct robots_ask, job);
    ask->allowed = robots_allow(ask->file->text, ask->file->length, ROBOTS_TOKEN, ask->path);
}

static void robots_refuse(struct robots_ask *ask)
{
    struct status st = {0};
    fail(&st, PERMISSION_DENIED, "robots.txt of %s does not allow programs to read this page", ask->origin);
    robots_finish(ask, &st);
}

static void robots_rules_were_read(struct job *job)
{
    struct robots_ask *ask = CONTAINER_OF(job, struct robots_ask, job);
    struct status st = job->status;
    if (st.code == OK && !ask->allowed)
        robots_refuse(ask);
    else
        robots_finish(ask, &st);
}

static void robots_judge(struct robots_ask *ask)
{
    struct status st = {0};
    if (ask->file->answer == ROBOTS_SILENT)
        fail(&st, UNAVAILABLE, "robots.txt of %s cannot be read now, so that its pages are not read either",
             ask->origin);
    if (ask->file->answer != ROBOTS_RULES) {
        robots_finish(ask, &st);
        return;
    }
    ask->job = (struct job){.loop = ask->runner->loop,
                            .run = robots_rules_read,
                            .ended = robots_rules_were_read,
                            .deadline_ns = ask->deadline_ns,
                            .owner = ask->job_owner};
    job_start(&ask->job, ask->file->length);
}

static void robots_settle(struct robots_ask *ask, enum robots_answer answer)
{
    struct robots_file *file = calloc(1, sizeof *file);
    char *origin = strdup(ask->origin), *text = malloc(ask->text.length + 1);
    struct status st = {0};
    if (!file || !origin || !text) {
        free(file);
        free(origin);
        free(text);
        fail(&st, RESOURCE_EXHAUSTED, "no memory for robots.txt of %s", ask->origin);
        robots_finish(ask, &st);
        return;
    }
    if (ask->text.length)
        memcpy(text, ask->text.data, ask->text.length);
    int64_t keep_ms = answer == ROBOTS_SILENT ? ROBOTS_RETRY_MS : ROBOTS_KEEP_MS;
    *file = (struct robots_file){.origin = origin,
                                 .text = text,
                                 .length = ask->text.length,
                                 .answer = answer,
                                 .until_ns = clock_now_ns() + keep_ms * NS_PER_MS,
                                 .holders = 1};
    ask->file = file;
    robots_keep(ask->runner->robots, file);
    robots_judge(ask);
}

/* ---- the way to it ----------------------------------------------------------------------------------------------- */

static void robots_send(struct robots_ask *ask);

static void robots_received(struct transfer *transfer, const char *bytes, size_t size)
{
    struct robots_ask *ask = transfer->owner;
    size_t room = ROBOTS_TEXT_MAX - ask->text.length;
    if (transfer->http_status / 100 == 2)
        buffer_append(&ask->text, bytes, size < room ? size : room);
}

/* False if it leads to a host that may not be read, or if there are too many redirects. */
static bool robots_follow(struct robots_ask *ask)
{
    struct status st = {0};
    const char *location = transfer_header(&ask->transfer, "Location");
    struct http_url *next =
        ++ask->hops <= ROBOTS_HOPS_MAX && location ? http_url_follow(ask->url, location, &st) : NULL;
    bool may =
        next && !http_url_has_user(next) && page_hosts_reach(ask->runner->shared->page_hosts, next) != PAGE_REFUSED;
    if (!may) {
        http_url_destroy(&next);
        return false;
    }
    http_url_destroy(&ask->url);
    ask->url = next;
    return true;
}

static void robots_answered(struct transfer *transfer)
{
    struct robots_ask *ask = transfer->owner;
    int http_status = transfer->http_status;
    if (transfer->end == TRANSFER_CANCELLED)
        robots_finish(ask, &transfer->status);
    else if (transfer->end != TRANSFER_COMPLETE && transfer->end != TRANSFER_TOO_LARGE)
        robots_settle(ask, transfer->end == TRANSFER_FORBIDDEN ? ROBOTS_ALL : ROBOTS_SILENT); /* the page tells why */
    else if (http_status / 100 == 2)
        robots_settle(ask, ROBOTS_RULES);
    else if (http_status / 100 == 3 && robots_follow(ask))
        robots_send(ask);
    else
        robots_settle(ask, http_status >= 500 ? ROBOTS_SILENT : ROBOTS_ALL);
}

static void robots_send(struct robots_ask *ask)
{
    struct transfer *transfer = &ask->transfer;
    enum page_reach reach = page_hosts_reach(ask->runner->shared->page_hosts, ask->url);
    transfer_init(transfer, ask->url, robots_answered);
    transfer->timeout_ms = ROBOTS_TIMEOUT_MS;
    transfer->response_max = ROBOTS_RESPONSE_MAX;
    transfer->decompress = true;
    transfer->may_repeat = true;
    transfer->address_allowed = reach == PAGE_ANYWHERE ? http_address_is_routed : http_address_is_public;
    transfer->body_received = robots_received;
    transfer->owner = ask;
    transfer_start(ask->runner->http, transfer);
}

/* The path with its query, as a rule is compared with it; "/" stands for an empty path. */
static char *robots_path_of(const struct http_url *url)
{
    char *text = http_url_text(url);
    const char *host = text ? strstr(text, "://") : NULL, *path = host ? strchr(host + 3, '/') : NULL;
    char *copy = strdup(path ? path : "/");
    free(text);
    return copy;
}

void robots_ask_start(struct robots_ask *ask, const struct http_url *url)
{
    struct status st = {0};
    buffer_init(&ask->text, ROBOTS_TEXT_MAX);
    ask->hops = 0;
    ask->origin = strdup(http_url_origin(url));
    ask->path = robots_path_of(url);
    ask->url = http_url_follow(url, "/robots.txt", &st);
    if (!ask->url || !ask->origin || !ask->path) {
        fail(&st, RESOURCE_EXHAUSTED, "no memory for robots.txt");
        robots_finish(ask, &st);
        return;
    }
    ask->file = robots_find(ask->runner->robots, ask->origin);
    if (!ask->file) {
        robots_send(ask);
        return;
    }
    ask->file->holders++;
    robots_judge(ask);
}

void robots_ask_cancel(struct robots_ask *ask)
{
    transfer_cancel(&ask->transfer);
    job_cancel(&ask->job);
}
