#include "commands.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

int command_with_process(const struct daemon *daemon, int argc, char **argv,
                         int (*work)(struct daemon_process *process, const struct config *config))
{
    int code;
    struct config *config = daemon_configure(daemon, argc, argv, &code);
    if (!config)
        return code;
    signal(SIGPIPE, SIG_IGN);
    struct status st = {0};
    struct daemon_process *process = process_start(daemon, config, &st);
    if (process) {
        code = work(process, config);
    } else {
        fprintf(stderr, "%s: %s\n", daemon->name, st.text);
        code = COMMAND_USAGE;
    }
    process_stop(&process);
    config_destroy(config);
    return code;
}

void command_call_prepare(struct command_call *call, struct daemon_process *process, int64_t timeout_ms)
{
    rpc_client_call_init(&call->call, process_loop(process), NULL);
    call->call.timeout_ms = timeout_ms;
    call->call.owner = call;
}

static void begin(struct work *work)
{
    struct command_call *call = (struct command_call *)work;
    call->begin(call);
}

/* From now on the call may be gone. */
void command_call_ended(struct command_call *call)
{
    sem_post(&call->woken);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------------ */

static struct command_call *volatile at_work;
static atomic_int interrupted;

static void told_to_stop(int number)
{
    struct command_call *call = at_work;
    (void)number;
    atomic_store(&interrupted, 1);
    if (call)
        sem_post(&call->woken);
}

static void cancel(struct work *work)
{
    struct command_call *call = OWNER_OF(work, struct command_call, cancel);
    rpc_client_call_cancel(&call->call);
    sem_post(&call->woken);
}

/* The end wakes once, and so do Ctrl-C and the cancelling that follows it: after all of them nobody knows the call. */
static void wait_for_end(struct command_call *call)
{
    int woken = 0;
    bool cancelling = false;
    while (woken < 1 + atomic_load(&interrupted) + cancelling) {
        woken += sem_wait(&call->woken) == 0;
        if (!atomic_load(&interrupted) || cancelling)
            continue;
        cancelling = true;
        call->cancel.run = cancel;
        loop_post(call->call.loop, &call->cancel);
    }
}

static void run_and_wait(struct command_call *call)
{
    struct sigaction before, action = {.sa_handler = told_to_stop, .sa_flags = (int)SA_RESETHAND};
    atomic_store(&interrupted, 0);
    at_work = call;
    if (call->cancels)
        sigaction(SIGINT, &action, &before);
    loop_post(call->call.loop, &call->work);
    wait_for_end(call);
    if (call->cancels)
        sigaction(SIGINT, &before, NULL);
    at_work = NULL;
}

bool command_interrupted(void)
{
    return atomic_load(&interrupted) != 0;
}

bool command_call_run(struct command_call *call, const char *command)
{
    sem_init(&call->woken, 0, 0);
    call->work.run = begin;
    run_and_wait(call);
    sem_destroy(&call->woken);
    if (call->call.status.code == OK)
        return true;
    fprintf(stderr, "%s: %s: %s\n", command, status_code_name((int)call->call.status.code), call->call.status.text);
    return false;
}
