#include "daemon/daemon.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon/options.h"
#include "daemon/process.h"
#include "daemon/trim.h"
#include "http/client.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define TEXT_MAX      (1u << 20) /* of help and printed configuration */
#define ABOUT_MAX     1024
#define USAGE_MAX     128
#define DRAIN_LOOK_MS 20
#define FILES_MIN     65536 /* after one refused accept for want of descriptors, gRPC core never accepts again */

static void show_help(const struct daemon *daemon, const struct config *config, struct buffer *out)
{
    char about[ABOUT_MAX], usage[USAGE_MAX];
    snprintf(about, sizeof about, "%s: %s", daemon->name, daemon->summary);
    snprintf(usage, sizeof usage, "%s [OPTIONS]", daemon->name);
    const struct config_help help = {
        .about = about, .usage = daemon->usage ? daemon->usage : usage, .examples = daemon->examples};
    config_help(config, &help, out);
}

static int daemon_show(const struct daemon *daemon, const struct config *config)
{
    struct buffer out;
    buffer_init(&out, TEXT_MAX);
    switch (config_request(config)) {
    case CONFIG_SHOW_HELP:
    case CONFIG_SHOW_HELP_ALL:
        show_help(daemon, config, &out);
        break;
    case CONFIG_SHOW_VERSION:
        buffer_printf(&out, "%s %s\n", daemon->name, RENGA_VERSION);
        break;
    case CONFIG_SHOW_CONFIG:
        config_print(config, &out);
        break;
    case CONFIG_RUN:
        break;
    }
    fputs(buffer_text(&out), stdout);
    buffer_fini(&out);
    return fflush(stdout) == 0 ? DAEMON_EXIT_OK : DAEMON_EXIT_FAILED;
}

/* As many descriptors as the system lets us have. */
static void raise_files_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < FILES_MIN)
        log_warn("daemon.files", "only %llu file descriptors are allowed; at least %d are wanted (ulimit -n)",
                 (unsigned long long)limit.rlim_max, FILES_MIN);
}

static void drained(void *data)
{
    sem_post(data);
}

static void serve_until_told(struct daemon_process *process, const sigset_t *signals)
{
    static const struct timespec look_every = {.tv_nsec = DRAIN_LOOK_MS * NS_PER_MS};
    int number;
    while (sigwait(signals, &number), number == SIGHUP)
        process_reload(process);
    log_info("daemon.stopping", "signal %d: draining", number);
    sem_t done;
    sem_init(&done, 0, 0);
    process_drain(process, drained, &done);
    while (sem_trywait(&done) != 0) {
        number = sigtimedwait(signals, NULL, &look_every);
        if (number == SIGTERM || number == SIGINT) {
            log_warn("daemon.forced", "a second signal: leaving at once");
            _exit(DAEMON_EXIT_FORCED);
        }
    }
    sem_destroy(&done);
}

static int daemon_exit_code(const struct status *st)
{
    if (st->code == OK)
        return DAEMON_EXIT_OK;
    return st->code == INVALID_ARGUMENT || st->code == FAILED_PRECONDITION ? DAEMON_EXIT_USAGE : DAEMON_EXIT_FAILED;
}

static int daemon_run(const struct daemon *daemon, const struct config *config)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread is made: all inherit it */
    signal(SIGPIPE, SIG_IGN);
    raise_files_limit();
    struct status st = {0};
    struct daemon_process *process = process_start(daemon, config, &st);
    if (process)
        http_client_prepare(); /* before strangers can connect */
    if (process && process_serve(process, &st))
        serve_until_told(process, &signals);
    if (!process_stop(&process))
        _exit(daemon_exit_code(&st));
    if (st.code != OK)
        log_error("daemon.failed", "%s", st.text);
    return daemon_exit_code(&st);
}

/* Keys are in memory from the first byte of the environment on: closed before it is read. */
static void close_memory(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

static void open_memory(const struct config *config)
{
    if (config_boolean(config, "core_dumps"))
        prctl(PR_SET_DUMPABLE, 1);
}

struct config *daemon_configure(const struct daemon *daemon, int argc, char **argv, int *exit_code)
{
    struct status st = {0};
    close_memory();
    process_bound_heap();
    struct config *config = daemon_create_config(daemon, &st);
    *exit_code = DAEMON_EXIT_USAGE;
    if (config && config_read(config, argc, argv, &st)) {
        if (config_request(config) == CONFIG_RUN) {
            enum log_level level = LOG_INFO;
            log_level_parse(config_string(config, "log.level"), &level);
            const char *format = config_string(config, "log.format");
            log_configure(daemon->name, level,
                          format[0] == 't'   ? LOG_FORMAT_TEXT
                          : format[0] == 'j' ? LOG_FORMAT_JSON
                                             : LOG_FORMAT_AUTO);
            open_memory(config);
            return config;
        }
        *exit_code = daemon_show(daemon, config);
    } else {
        fprintf(stderr, "%s: %s\nTry '%s --help'.\n", daemon->name, st.text, daemon->name);
    }
    config_destroy(config);
    return NULL;
}

int daemon_main(const struct daemon *daemon, int argc, char **argv)
{
    int code;
    struct config *config = daemon_configure(daemon, argc, argv, &code);
    if (!config)
        return code;
    size_t extra;
    const char *const *arguments = config_arguments(config, &extra);
    if (extra) {
        fprintf(stderr, "%s: '%s' is not expected; options begin with --\n", daemon->name, arguments[0]);
        code = DAEMON_EXIT_USAGE;
    } else {
        code = daemon_run(daemon, config);
    }
    config_destroy(config);
    return code;
}
