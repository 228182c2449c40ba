/* STAGE_ARGUMENTS: the arguments of all calls are held against their schemas, in a worker if they are long. */
#include "run_request.h"

#include <string.h>

static bool argument_tool_is_allowed(const struct run_request *self, const char *name)
{
    for (size_t i = 0; i < self->asked->n_allowed_tools; i++)
        if (strcmp(self->asked->allowed_tools[i], name) == 0)
            return true;
    return self->asked->n_allowed_tools == 0;
}

static void arguments_run(struct job *job)
{
    struct run_request *self = CONTAINER_OF(job, struct run_request, reading);
    for (size_t i = 0; i < self->asked->n_calls && !job_is_over(job); i++) {
        struct run_arguments *row = &self->arguments[i];
        if (row->wanted)
            row->tree = tool_call_read_arguments(&row->entry, self->calls[i].asked->call->arguments_json, &row->status);
    }
}

/* If the caller has left meanwhile its failure stays. */
static void arguments_ended(struct job *job)
{
    struct run_request *self = CONTAINER_OF(job, struct run_request, reading);
    if (job->status.code != OK && self->failure.code == OK)
        self->failure = job->status;
    run_request_advance(self);
}

void run_arguments_read(struct run_request *self)
{
    size_t bytes = 0, count = self->asked->n_calls;
    self->arguments = arena_zalloc(rpc_call_arena(self->rpc), count * sizeof(*self->arguments));
    if (!self->arguments) {
        fail(&self->failure, RESOURCE_EXHAUSTED, "no memory for the arguments");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (self->calls[i].state != CALL_IDLE)
            continue;
        struct run_arguments *row = &self->arguments[i];
        const char *name = self->calls[i].asked->call->name;
        row->found = catalog_find(self->runner->shared->catalog, name, &row->entry);
        if (row->found && !argument_tool_is_allowed(self, name))
            fail(&row->status, PERMISSION_DENIED, "'%s' is not one of the tools that may be called here", name);
        row->wanted = row->found && row->status.code == OK;
        bytes += self->arguments[i].wanted ? strlen(self->calls[i].asked->call->arguments_json) : 0;
    }
    rpc_call_job(self->rpc, &self->reading);
    self->reading.run = arguments_run;
    self->reading.ended = arguments_ended;
    self->waits += 2; /* 1 for now: a short job ends at once */
    job_start(&self->reading, bytes);
    self->waits--;
}

void run_arguments_fini(struct run_request *self)
{
    for (size_t i = 0; self->arguments && i < self->asked->n_calls; i++) {
        struct run_arguments *row = &self->arguments[i];
        cJSON_Delete(row->tree);
        if (row->found && row->entry.release)
            row->entry.release(row->entry.tool);
    }
}
