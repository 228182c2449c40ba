/* A single call of a RunTools, from its slot to its recorded result.
 *
 *      QUEUED -> BEGUN is on disk --> RUNNING --> ended is on disk --> SETTLED
 *      waits     side effects alone                no effect: forgotten */
#ifndef RENGA_TOOL_CALL_H
#define RENGA_TOOL_CALL_H

#include "list/catalog.h"
#include "record/record.h"
#include "run_slots.h"
#include "tool_run.h"

enum tool_call_state { CALL_IDLE, CALL_QUEUED, CALL_BEGINNING, CALL_RUNNING, CALL_ENDING, CALL_SETTLED };

struct tool_call {
    /* Set by the owner. */
    const Renga__V1__RunToolsRequest *request;
    const Renga__V1__ToolInvocation *asked;
    const struct record_name *name;
    struct tool_runner *runner;
    struct rpc_call *rpc; /* the caller's RPC */
    struct store *store;
    int64_t queue_wait_ms;
    void (*settled)(struct tool_call *call); /* once, from the loop */
    void *owner;

    Renga__V1__ToolResult result; /* once it is settled; its pointers are valid as long as the call */
    uint8_t digest[RECORD_DIGEST];
    bool in_record; /* its row has been written: begun */
    int64_t due_ms;

    /* Its own. */
    struct catalog_entry entry;
    unsigned state;
    bool cancelled, has_run_slot;
    struct tool_run *run;
    struct run_slot run_slot;
    struct timer queue_timeout;
    struct store_batch batch;
    struct span *span;
};

/* Settles a call that will not run, or has run already, with this result at once; `settled` does not run. */
void tool_call_refuse(struct tool_call *call, const struct status *status);
void tool_call_repeat(struct tool_call *call, const Renga__V1__ToolResult *recorded);

/* Takes over the contents of `entry`. The arguments fit its schema. */
void tool_call_begin(struct tool_call *call, const struct catalog_entry *entry, cJSON *arguments);

/* The caller has left: the call settles soon. */
void tool_call_stop(struct tool_call *call);

void tool_call_fini(struct tool_call *call);

/* The arguments as an object that fits the schema; NULL with a text from which a model can correct them. To be freed
 * with cJSON_Delete. */
cJSON *tool_call_read_arguments(const struct catalog_entry *entry, const char *arguments_json, struct status *st);

#endif
