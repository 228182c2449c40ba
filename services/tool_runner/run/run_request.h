/* A RunTools under way. Private to run/run_*.c.
 *
 *      the lock of its key ---> the record is read ---> servers of unknown tools are asked ---> fence is
 *      raised ---> arguments are read ---> calls run, each for itself ---> the answer */
#ifndef RENGA_TOOL_RUNNER_RUN_REQUEST_H
#define RENGA_TOOL_RUNNER_RUN_REQUEST_H

#include "instance/tool_runner_instance.h"
#include "loop/jobs.h"
#include "mcp/mcp.h"
#include "record/key_lock.h"
#include "record/record.h"
#include "rpc/rpc.h"
#include "tool_call.h"

enum stage {
    STAGE_LOCK,
    STAGE_RECORD,
    STAGE_CHECK_RECORD,
    STAGE_SERVERS,
    STAGE_FENCE,
    STAGE_FENCED,
    STAGE_ARGUMENTS,
    STAGE_RUN,
    STAGE_REPLY
};

/* For a single call. `found`, `tree`: the rest of the row; a call that begins takes both over. */
struct run_arguments {
    struct catalog_entry entry;
    bool found, wanted;
    cJSON *tree;
    struct status status; /* why there is no tree */
};

struct run_request {
    struct tool_runner *runner;
    struct rpc_call *rpc;
    const Renga__V1__RunToolsRequest *asked;
    Renga__V1__RunToolsResponse_Closure reply;
    struct record_name name;

    enum stage stage;
    unsigned waits; /* callbacks that are still to come */
    struct status failure;
    struct key_lock key_lock;
    struct store *store;
    struct store_scan fence, rows;
    bool scanned;
    struct store_batch batch;
    struct mcp_discovery *discoveries;
    struct tool_call *calls;
    struct run_arguments *arguments; /* NULL before STAGE_ARGUMENTS */
    struct job reading;
};

/* An awaited event has happened: goes on. */
void run_request_advance(struct run_request *self);

/* STAGE_RECORD: the fence's row and the rows of all calls of the key are read, and then checked: calls that have ended
 * are settled; a mismatch is a failure. */
void run_record_read(struct run_request *self);
void run_record_check(struct run_request *self);
void run_record_fini(struct run_request *self);

/* STAGE_FENCE: a token that is higher than any seen is written first. */
void run_fence_raise(struct run_request *self);
void run_fence_check(struct run_request *self);

/* STAGE_ARGUMENTS: the tools of the calls that are to run, and their arguments. */
void run_arguments_read(struct run_request *self);
void run_arguments_fini(struct run_request *self);

#endif
