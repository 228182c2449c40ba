/* A request that changes a playbook, from the lock of its playbook to its answer:
 *
 *      lock ---> load ---> known request_id? ---> prepare ---> trim ---> apply (a worker) ---> commit ---> answer
 *                  ^                                                                             |
 *                  '----------------------- another tool-runner was first -----------------------'
 *
 * Requests for one playbook run one at a time within the process; the head row is expected to be as it was loaded,
 * so that of several processes one succeeds, and the others apply their change anew. The request's row is written in
 * the same batch: a change is applied once, also after a crash of any process. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_WRITE_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_WRITE_H

#include "base/sha256.h"
#include "playbook/playbook_draft.h"
#include "playbook/playbook_load.h"
#include "record/key_lock.h"

/* On the heap; ends and frees itself when the call has been answered. */
struct playbook_write {
    /* The method's. All borrowed from the call. */
    struct tool_runner *runner;
    struct rpc_call *rpc;
    const char *dataset, *request_id, *reason, *source;
    const ProtobufCMessage *request;
    const ProtobufCMessageDescriptor *response_type;
    int64_t expected_revision;
    int64_t restored_revision;
    bool dry_run, replaces; /* replaces: the old bullets are deleted */
    /* In a worker: the bounds of the contract. */
    bool (*check)(struct playbook_write *write, struct status *st);
    /* May be NULL. After the load: calls playbook_write_go_on in the end, with `status` set if it failed. */
    void (*prepare)(struct playbook_write *write);
    /* In a worker: changes the draft. */
    bool (*change)(struct playbook_write *write, struct playbook_draft *draft, struct status *st);
    /* In a worker: the answer, in write->arena; NULL: no memory. */
    ProtobufCMessage *(*answer)(struct playbook_write *write, const struct playbook *next);
    /* Sends it. */
    void (*reply)(struct playbook_write *write, const ProtobufCMessage *response);
    void (*destroy)(struct playbook_write *write); /* the method's own memory */
    void *method;

    /* For the functions above. */
    struct playbook_load load;
    struct status status;
    struct arena arena; /* of an attempt */
    struct playbook_draft draft;

    /* The write's own. */
    size_t bytes; /* of the request */
    struct key_lock key_lock;
    struct store_scan scan;
    struct store_batch batch;
    struct job job;
    struct playbook *next;
    struct playbook_head next_head;
    ProtobufCMessage *response;
    uint8_t digest[SHA256_SIZE];
    void (*trim_ended)(struct playbook_write *write);
    struct playbook_trim {
        int64_t changes, change_bytes; /* oldest changes that go, and their sizes */
        int64_t requests;              /* oldest requests that go */
        char (*request_ids)[129];
    } trim;
    bool drafted, changes_bullets, writes, has_batch;
    unsigned tries;
};

/* The method's fields are set. From inside the call's loop. */
struct playbook_write *playbook_write_create(struct tool_runner *runner, struct rpc_call *rpc);
void playbook_write_start(struct playbook_write *write);
void playbook_write_go_on(struct playbook_write *write);

/* Reads the oldest changes and requests that have to go; continues with `ended`. Reads no rows if there is room. */
void playbook_trim_start(struct playbook_write *write, void (*ended)(struct playbook_write *write));
bool playbook_trim_is_needed(const struct playbook_write *write);

/* Fills the batch of a change that was applied; in a worker. False with RESOURCE_EXHAUSTED. */
bool playbook_write_rows(struct playbook_write *write, Renga__V1__PlaybookChange *change, struct status *st);

#endif
