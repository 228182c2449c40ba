/* A server's long messages are parsed in a worker; all messages are understood in the order in which they came.
 *
 *      mcp_received ---> a job parses it ---.
 *      mcp_received ---> …                  +---> the first of the line, once it is parsed: understood
 *      mcp_after    ---> a callback --------'
 *
 * When the wire is closed, the line is dropped: its messages are not understood, and its callbacks run. */
#include "base/log.h"
#include "base/memory.h"
#include "loop/jobs.h"
#include "mcp_priv.h"
#include "json/json.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX   200000
#define DEPTH_MAX    128
#define REAP_MS      2000 /* for jobs with a dropped line */
#define REAP_STEP_MS 10

struct mcp_reading {
    struct job job; /* first */
    struct mcp_server *server;
    struct mcp_reading *next;
    char *text; /* NULL once it is parsed */
    size_t length;
    cJSON *message;
    bool parsed, dropped;
    void (*then)(void *data); /* NULL: a message */
    void *data;
};

static struct mcp_reading *reading_add(struct mcp_server *server)
{
    struct mcp_reading *reading = xcalloc(1, sizeof *reading);
    reading->server = server;
    *server->readings_end = reading;
    server->readings_end = &reading->next;
    return reading;
}

static void reading_free(struct mcp_reading *reading)
{
    cJSON_Delete(reading->message);
    free(reading->text);
    free(reading);
}

static struct mcp_reading *reading_take(struct mcp_server *server)
{
    struct mcp_reading *reading = server->readings;
    server->readings = reading->next;
    if (!server->readings)
        server->readings_end = &server->readings;
    server->unread_bytes -= reading->length;
    return reading;
}

/* `dispatching` keeps the order if a callback or a message leads to another. */
static void readings_go_on(struct mcp_server *server)
{
    if (server->dispatching)
        return;
    server->dispatching = true;
    while (server->readings && server->readings->parsed) {
        struct mcp_reading *reading = reading_take(server);
        if (reading->then)
            reading->then(reading->data);
        else if (cJSON_IsObject(reading->message))
            mcp_dispatch(server, reading->message);
        else
            log_debug("mcp.garbage", "'%s' sent %zu bytes that are no message", server->setup->name, reading->length);
        reading_free(reading);
    }
    server->dispatching = false;
}

static void reading_parse(struct job *job)
{
    struct mcp_reading *reading = (struct mcp_reading *)job;
    const struct json_limits limits = {
        .depth = DEPTH_MAX, .values = VALUES_MAX, .bytes = reading->server->setup->output_max + 1};
    struct status st = {0};
    reading->message = json_parse(reading->text, reading->length, &limits, &st);
    free(reading->text);
    reading->text = NULL;
}

static void reading_parsed(struct job *job)
{
    struct mcp_reading *reading = (struct mcp_reading *)job;
    struct mcp_server *server = reading->server;
    if (reading->dropped) {
        server->dropped--;
        reading_free(reading);
        return;
    }
    if (job->status.code != OK) /* no worker has room: parse it here, so that a paid answer is not lost */
        reading_parse(job);
    reading->parsed = true;
    readings_go_on(server);
}

void mcp_received_text(struct mcp_server *server, char *text, size_t length)
{
    struct mcp_reading *reading = reading_add(server);
    reading->text = text;
    reading->length = length;
    reading->job = (struct job){.loop = server->loop,
                                .run = reading_parse,
                                .ended = reading_parsed,
                                .owner = job_owner(NULL, server->setup->name)};
    server->unread_bytes += length;
    job_start(&reading->job, length);
}

void mcp_received(struct mcp_server *server, const char *text, size_t length)
{
    char *copy = xmalloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    mcp_received_text(server, copy, length);
}

void mcp_after(struct mcp_server *server, void (*then)(void *data), void *data)
{
    struct mcp_reading *reading = reading_add(server);
    reading->then = then;
    reading->data = data;
    reading->parsed = true;
    readings_go_on(server);
}

void mcp_readings_drop(struct mcp_server *server)
{
    while (server->readings) {
        struct mcp_reading *reading = reading_take(server);
        if (reading->then)
            reading->then(reading->data);
        if (reading->parsed) {
            reading_free(reading);
            continue;
        }
        reading->dropped = true;
        server->dropped++;
        job_cancel(&reading->job);
    }
}

void mcp_readings_await(struct mcp_server *server)
{
    for (int waited_ms = 0; server->dropped && waited_ms < REAP_MS; waited_ms += REAP_STEP_MS) {
        loop_leave(server->loop);
        poll(NULL, 0, REAP_STEP_MS);
        loop_enter(server->loop);
    }
}
