#include "commands.h"

#include <signal.h>
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

void command_call_ended(struct command_call *call)
{
    sem_post(&call->ended);
}

bool command_call_run(struct command_call *call, const char *command)
{
    sem_init(&call->ended, 0, 0);
    call->work.run = begin;
    loop_post(call->call.loop, &call->work);
    while (sem_wait(&call->ended) != 0)
        continue;
    sem_destroy(&call->ended);
    if (call->call.status.code == OK)
        return true;
    fprintf(stderr, "%s: %s: %s\n", command, status_code_name((int)call->call.status.code), call->call.status.text);
    return false;
}
