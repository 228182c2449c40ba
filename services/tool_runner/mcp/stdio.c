/* A server that is a process of ours: a message is a line, over its standard streams.
 *
 *      close: its input ends, SIGTERM --- 2 s ---> SIGKILL to its group ---> reaped, freed */
#include "base/log.h"
#include "base/text.h"
#include "child/child.h"
#include "mcp_priv.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK        ((size_t)64 << 10) /* bytes read at once */
#define CHUNKS_MAX   8                  /* in a single visit of the loop */
#define UNSENT_MAX   ((size_t)16 << 20) /* bytes that it has not read yet */
#define ERROR_LINE   512                /* bytes of a line of its standard error that are looked at */
#define ERROR_MAX    (64u << 10)        /* bytes of its standard error in the log, of a process */
#define GRACE_MS     2000               /* between SIGTERM and SIGKILL */
#define SILENCE_MS   200                /* between the end of its output and its own */
#define REAP_STEP_MS 20
#define REAP_MS      600 /* for processes that are left when we end */

struct mcp_process {
    struct mcp_server *server;
    struct child child;
    int pidfd;
    struct watch reading, writing, erring, living;
    struct buffer line;   /* that has begun and not ended */
    struct buffer unsent; /* from `sent` on */
    size_t sent;
    char error_line[ERROR_LINE + 1];
    size_t error_length, error_bytes;
    bool closed, paused; /* it writes faster than workers read */
    struct timer grace;
    struct mcp_process *next; /* of those that are closed */
};

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void close_stream(struct mcp_process *wire, struct watch *watch, int *descriptor)
{
    if (*descriptor < 0)
        return;
    loop_unwatch(wire->server->loop, watch);
    close(*descriptor);
    *descriptor = -1;
}

static void stdio_unlist(struct mcp_server *server, const struct mcp_process *wire)
{
    struct mcp_process *before = server->closed;
    if (before == wire) {
        server->closed = wire->next;
        return;
    }
    while (before->next != wire)
        before = before->next;
    before->next = wire->next;
}

/* While it is a zombie, its group's number cannot be reused: its remaining processes are killed before it is reaped. */
static void stdio_reap(struct mcp_process *wire)
{
    kill(-wire->child.pid, SIGKILL);
    waitpid(wire->child.pid, NULL, 0);
    loop_disarm(wire->server->loop, &wire->grace);
    close_stream(wire, &wire->living, &wire->pidfd);
    free(wire);
}

static void out_of_grace(struct timer *timer)
{
    struct mcp_process *wire = CONTAINER_OF(timer, struct mcp_process, grace);
    kill(-wire->child.pid, SIGKILL);
}

static void stdio_close(struct mcp_server *server)
{
    struct mcp_process *wire = server->wire;
    close_stream(wire, &wire->writing, &wire->child.input);
    close_stream(wire, &wire->reading, &wire->child.output);
    close_stream(wire, &wire->erring, &wire->child.error);
    buffer_fini(&wire->line);
    buffer_fini(&wire->unsent);
    wire->closed = true;
    wire->next = server->closed;
    server->closed = wire;
    kill(-wire->child.pid, SIGTERM);
    loop_watch(server->loop, &wire->living, wire->pidfd, EPOLLIN); /* again, if it has ended already */
    wire->grace.expired = out_of_grace;
    loop_arm_after(server->loop, &wire->grace, GRACE_MS);
}

static void stdio_reap_all(struct mcp_server *server)
{
    for (int waited_ms = 0; server->closed; waited_ms += REAP_STEP_MS) {
        struct mcp_process *wire = server->closed;
        struct pollfd end = {.fd = wire->pidfd, .events = POLLIN};
        if (waited_ms >= REAP_MS)
            kill(-wire->child.pid, SIGKILL);
        if (poll(&end, 1, REAP_STEP_MS) > 0) {
            server->closed = wire->next;
            stdio_reap(wire);
        }
    }
}

static void broke(struct mcp_process *wire, const char *how)
{
    struct status why = {0};
    fail(&why, UNAVAILABLE, "the tool server '%s' %s", wire->server->setup->name, how);
    mcp_server_fail(wire->server, &why);
}

static void stdio_read_some(struct mcp_process *wire);

static void silence_told(void *data)
{
    struct mcp_process *wire = data;
    siginfo_t end = {0};
    char how[64] = "has closed its standard output";
    if (wire->closed)
        return;
    waitid(P_PID, (id_t)wire->child.pid, &end, WEXITED | WNOWAIT | WNOHANG);
    if (end.si_pid && end.si_code == CLD_EXITED)
        snprintf(how, sizeof how, "ended with %d", end.si_status);
    else if (end.si_pid)
        snprintf(how, sizeof how, "was ended by signal %d", end.si_status);
    broke(wire, how);
}

static void went_silent(struct mcp_process *wire)
{
    mcp_after(wire->server, silence_told, wire);
}

static void stays_silent(struct timer *timer)
{
    went_silent(CONTAINER_OF(timer, struct mcp_process, grace));
}

static void stdio_ended(struct watch *watch, uint32_t events)
{
    struct mcp_process *wire = CONTAINER_OF(watch, struct mcp_process, living);
    if (wire->closed) {
        stdio_unlist(wire->server, wire);
        stdio_reap(wire);
        return;
    }
    loop_unwatch(wire->server->loop, watch); /* it is watched again when it is closed */
    stdio_read_some(wire);                   /* its last output */
    went_silent(wire);
}

/* ---- its output -------------------------------------------------------------------------------------------------- */

static size_t without_return(const char *text, size_t length)
{
    return length && text[length - 1] == '\r' ? length - 1 : length;
}

static void stdio_take_line(struct mcp_process *wire, const char *text, size_t length)
{
    length = without_return(text, length);
    if (length)
        mcp_received(wire->server, text, length);
}

static void take_long_line(struct mcp_process *wire)
{
    size_t length;
    char *text = buffer_take(&wire->line, &length); /* most lines are short: a long one's memory goes */
    text[without_return(text, length)] = '\0';
    mcp_received_text(wire->server, text, without_return(text, length));
}

/* False: the line has more bytes than a message may. */
static bool stdio_feed(struct mcp_process *wire, const char *bytes, size_t size)
{
    const char *end;
    while ((end = memchr(bytes, '\n', size)) && !wire->server->failing) {
        size_t length = (size_t)(end - bytes);
        if (wire->line.length) {
            buffer_append(&wire->line, bytes, length);
            if (wire->line.failed)
                return false;
            take_long_line(wire);
        } else {
            stdio_take_line(wire, bytes, length);
        }
        bytes = end + 1;
        size -= length + 1;
    }
    buffer_append(&wire->line, bytes, size);
    return !wire->line.failed;
}

static void stdio_read_some(struct mcp_process *wire)
{
    char chunk[CHUNK];
    for (int i = 0; i < CHUNKS_MAX && !wire->server->failing; i++) {
        ssize_t size = read(wire->child.output, chunk, sizeof chunk);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (size <= 0) { /* the end of the process tells more, and comes soon */
            loop_unwatch(wire->server->loop, &wire->reading);
            wire->grace.expired = stays_silent;
            loop_arm_after(wire->server->loop, &wire->grace, SILENCE_MS);
            return;
        }
        if (!stdio_feed(wire, chunk, (size_t)size)) {
            broke(wire, "wrote a line that is longer than its output_max");
            return;
        }
    }
}

static void readable(struct watch *watch, uint32_t events);

static void resume_reading(void *data)
{
    struct mcp_process *wire = data;
    wire->paused = false;
    if (!wire->closed && wire->child.output >= 0)
        loop_watch(wire->server->loop, &wire->reading, wire->child.output, EPOLLIN);
}

static void readable(struct watch *watch, uint32_t events)
{
    struct mcp_process *wire = CONTAINER_OF(watch, struct mcp_process, reading);
    stdio_read_some(wire);
    if (wire->server->failing || wire->paused || wire->server->unread_bytes <= wire->server->setup->output_max)
        return;
    wire->paused = true;
    loop_unwatch(wire->server->loop, watch);
    mcp_after(wire->server, resume_reading, wire);
}

/* ---- its standard error ------------------------------------------------------------------------------------------ */

static void log_error_line(struct mcp_process *wire)
{
    size_t length = wire->error_length;
    wire->error_length = 0;
    if (!length || !wire->server->setup->logs_stderr || wire->error_bytes > ERROR_MAX)
        return;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)wire->error_line[i] < 0x20 || wire->error_line[i] == 0x7f)
            wire->error_line[i] = ' ';
    length = text_clean_length(wire->error_line, length);
    log_info("mcp.stderr", "'%s': %.*s", wire->server->setup->name, (int)length, wire->error_line);
}

/* Read always, so that it does not block; shown only if the document asks for it. */
static void erring(struct watch *watch, uint32_t events)
{
    struct mcp_process *wire = CONTAINER_OF(watch, struct mcp_process, erring);
    char chunk[4096];
    ssize_t size = read(wire->child.error, chunk, sizeof chunk);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        close_stream(wire, watch, &wire->child.error);
        return;
    }
    log_debug("mcp.stderr", "'%s' wrote %zd bytes to its standard error", wire->server->setup->name, size);
    wire->error_bytes += (size_t)size;
    for (ssize_t i = 0; i < size; i++) {
        if (chunk[i] == '\n')
            log_error_line(wire);
        else if (wire->error_length < ERROR_LINE)
            wire->error_line[wire->error_length++] = chunk[i];
    }
}

/* ---- its input --------------------------------------------------------------------------------------------------- */

static bool write_some(struct mcp_process *wire)
{
    while (wire->sent < wire->unsent.length) {
        ssize_t size = write(wire->child.input, wire->unsent.data + wire->sent, wire->unsent.length - wire->sent);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return errno == EAGAIN;
        wire->sent += (size_t)size;
    }
    buffer_clear(&wire->unsent);
    wire->sent = 0;
    return true;
}

static void stdio_flush(struct mcp_process *wire)
{
    bool good = write_some(wire);
    if (!good)
        broke(wire, "has closed its standard input");
    else if (wire->unsent.length)
        loop_watch(wire->server->loop, &wire->writing, wire->child.input, EPOLLOUT);
    else
        loop_unwatch(wire->server->loop, &wire->writing);
}

static void stdio_writable(struct watch *watch, uint32_t events)
{
    stdio_flush(CONTAINER_OF(watch, struct mcp_process, writing));
}

static void stdio_send(struct mcp_server *server, const struct buffer *message, struct mcp_request *request,
                       const char *method, const char *tool)
{
    struct mcp_process *wire = server->wire;
    if (wire->child.input < 0 || server->failing)
        return;
    buffer_append(&wire->unsent, message->data, message->length);
    buffer_put(&wire->unsent, '\n');
    if (wire->unsent.failed || message->failed)
        broke(wire, "does not read what it is sent");
    else
        stdio_flush(wire);
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

static const char *shared_value(const struct mcp_setup *setup, const char *name, const char *fallback)
{
    bool closed = setup->runs_as.changes && strcmp(name, "HOME") == 0;
    const char *value = closed ? NULL : getenv(name);
    return value ? value : fallback;
}

static bool stdio_is_set(const struct mcp_setup *setup, const char *name)
{
    for (size_t i = 0; i < setup->env_count; i++)
        if (strcmp(setup->env[i].name, name) == 0)
            return true;
    return false;
}

/* PATH, HOME and LANG are ours unless the document sets them; no other variable is handed on. Another user's HOME is
 * "/": ours is closed to it. */
static bool write_environment(const struct mcp_setup *setup, struct arena *arena, const char **env)
{
    static const char *const shared[][2] = {
        {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/"}, {"LANG", "C.UTF-8"}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (!stdio_is_set(setup, shared[i][0]))
            env[count++] = arena_printf(arena, "%s=%s", shared[i][0], shared_value(setup, shared[i][0], shared[i][1]));
    for (size_t i = 0; i < setup->env_count; i++)
        env[count++] = arena_printf(arena, "%s=%s", setup->env[i].name, setup->env[i].value);
    env[count] = NULL;
    return !arena->exhausted;
}

static bool spawn(const struct mcp_setup *setup, struct child *child, struct status *st)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, (size_t)4 << 20);
    const char **argv = arena_zalloc(&arena, (setup->args.count + 2) * sizeof(*argv));
    const char **env = arena_zalloc(&arena, (MCP_PAIRS_MAX + 4) * sizeof(*env));
    bool good = argv && env && write_environment(setup, &arena, env);
    if (!good)
        fail(st, RESOURCE_EXHAUSTED, "the environment of '%s' is too large", setup->name);
    for (size_t i = 0; good && i < setup->args.count; i++)
        argv[i + 1] = setup->args.items[i];
    if (good) {
        argv[0] = setup->command;
        struct child_options options = {
            .argv = argv,
            .env = env,
            .cwd = setup->cwd,
            .writable = setup->writable.items,
            .writable_count = setup->writable.count,
            .without_landlock = setup->without_landlock,
            .user = setup->runs_as,
            .memory_max = setup->memory_max,
        };
        good = child_spawn(&options, child, st);
    }
    arena_fini(&arena); /* the child has its own by now */
    return good;
}

static bool watch_streams(struct mcp_process *wire)
{
    struct loop *loop = wire->server->loop;
    wire->reading.ready = readable;
    wire->writing.ready = stdio_writable;
    wire->erring.ready = erring;
    wire->living.ready = stdio_ended;
    return loop_watch(loop, &wire->reading, wire->child.output, EPOLLIN) &&
           loop_watch(loop, &wire->erring, wire->child.error, EPOLLIN) &&
           loop_watch(loop, &wire->living, wire->pidfd, EPOLLIN);
}

static bool stdio_open(struct mcp_server *server, struct status *st)
{
    struct status why = {0};
    struct mcp_process *wire = calloc(1, sizeof *wire);
    if (!wire)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the tool server '%s'", server->setup->name);
    wire->server = server;
    if (!spawn(server->setup, &wire->child, &why)) {
        free(wire);
        return fail(st, why.code, "the tool server '%s': %.400s", server->setup->name, why.text);
    }
    wire->pidfd = pidfd_open(wire->child.pid, 0);
    buffer_init(&wire->line, server->setup->output_max);
    buffer_init(&wire->unsent, UNSENT_MAX);
    if (wire->pidfd < 0 || !watch_streams(wire))
        fatal("mcp.descriptors", "no descriptors to look after '%s': errno %d", server->setup->name, errno);
    server->wire = wire;
    const struct child_user *user = &server->setup->runs_as;
    log_info("mcp.started", "'%s' is process %d of user %u", server->setup->name, (int)wire->child.pid,
             user->changes ? user->uid : geteuid());
    return true;
}

const struct mcp_transport mcp_stdio = {
    .open = stdio_open,
    .send = stdio_send,
    .close = stdio_close,
    .reap = stdio_reap_all,
    .probes = true,
};
