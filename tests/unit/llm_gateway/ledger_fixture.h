/* A ledger and callers of GetUsage, in process: a loop with its thread, a service that has GetUsage alone, a stub. */
#ifndef RENGA_LEDGER_FIXTURE_H
#define RENGA_LEDGER_FIXTURE_H

#include "base/clock.h"
#include "base/log.h"
#include "proto/descriptor_set.h"
#include "rpc/channel.h"
#include "rpc/rpc.h"
#include "rpc/schema.h"
#include "usage/ledger.h"
#include "usage/ledger_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "unit.h"

#define HOUR_MS  INT64_C(3600000)
#define DAY_MS   (24 * HOUR_MS)
#define MIDNIGHT INT64_C(1767225600000) /* 2026-01-01 00:00 UTC */
#define WAIT_S   20

static struct {
    struct loop *loop;
    struct rpc_schema *schema;
    ProtobufCService *stub;
    struct ledger *ledger;
    bool narrow; /* callers have no right to see all */
    char folder[64], path[128];
} house;

static void get_usage(Renga__V1__LlmGateway_Service *self, const Renga__V1__GetUsageRequest *request,
                      Renga__V1__GetUsageResponse_Closure reply, void *data)
{
    ledger_report(house.ledger, data, request, !house.narrow, reply);
}

static Renga__V1__LlmGateway_Service ledger_service = {
    .base = {.descriptor = &renga__v1__llm_gateway__descriptor, .invoke = rpc_service_invoke},
    .get_usage = get_usage,
};

static inline int move_in(void **state)
{
    static ProtobufCService *const instances[] = {&ledger_service.base};
    struct status st = {0};
    log_configure("ledger-test", LOG_ERROR, LOG_FORMAT_TEXT);
    house.schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    house.loop = loop_create(0);
    assert_true(loop_start(house.loop, &st));
    house.stub = rpc_local_stub(house.schema, instances, 0, NULL);
    return 0;
}

static inline int move_out(void **state)
{
    protobuf_c_service_destroy(house.stub);
    loop_stop(house.loop);
    loop_destroy(&house.loop);
    rpc_schema_destroy(&house.schema);
    return 0;
}

/* ---- the ledger -------------------------------------------------------------------------------------------------- */

static inline void open_ledger_keeping(const char *path, int64_t flush_ms, int64_t keep_runs_days)
{
    struct status st = {0};
    struct ledger_options options = {.path = path, .flush_ms = flush_ms, .keep_runs_days = keep_runs_days};
    house.ledger = ledger_create(&options, &st);
    assert_non_null(house.ledger);
}

static inline void open_ledger(const char *path)
{
    open_ledger_keeping(path, 20, 0);
}

static inline void close_ledger(void)
{
    ledger_destroy(&house.ledger);
    assert_null(house.ledger);
}

static inline int make_folder(void **state)
{
    house.narrow = false;
    snprintf(house.folder, sizeof house.folder, "/tmp/renga-ledger-XXXXXX");
    assert_non_null(mkdtemp(house.folder));
    snprintf(house.path, sizeof house.path, "%s/accounts.db", house.folder);
    return 0;
}

static inline int drop_folder(void **state)
{
    struct dirent *entry;
    char path[512];
    ledger_destroy(&house.ledger);
    chmod(house.folder, 0700);
    DIR *directory = opendir(house.folder);
    while (directory && (entry = readdir(directory))) {
        snprintf(path, sizeof path, "%s/%s", house.folder, entry->d_name);
        unlink(path);
    }
    if (directory)
        closedir(directory);
    rmdir(house.folder);
    return 0;
}

static inline int make_ledger(void **state)
{
    make_folder(state);
    open_ledger(house.path);
    return 0;
}

/* With a ledger from the start. */
#define LEDGER_TEST(name) cmocka_unit_test_setup_teardown(name, make_ledger, drop_folder)

/* A call of desk in kyoto that cost `micros`, to be changed before it is noted. */
struct spending {
    struct ledger_entry entry;
    Renga__V1__Usage usage;
};

static inline void spend_init(struct spending *spending, int64_t ended_ms, int64_t micros)
{
    *spending = (struct spending){.usage = RENGA__V1__USAGE__INIT};
    spending->usage.input_tokens = 100;
    spending->usage.output_tokens = 10;
    spending->usage.model_calls = 1;
    spending->usage.cost_micros = micros;
    spending->entry = (struct ledger_entry){
        .ended_ms = ended_ms, .client = "desk", .tenant = "kyoto", .model = "gpt", .deployment = "east"};
}

static inline void note(struct spending *spending)
{
    spending->entry.usage = &spending->usage;
    ledger_note(house.ledger, &spending->entry);
}

static inline void spend(const char *client, const char *tenant, int64_t ended_ms, int64_t micros)
{
    struct spending spending;
    spend_init(&spending, ended_ms, micros);
    spending.entry.client = client;
    spending.entry.tenant = tenant;
    note(&spending);
}

static inline void spend_run(const char *run_id, int64_t ended_ms, int64_t micros)
{
    struct spending spending;
    spend_init(&spending, ended_ms, micros);
    spending.entry.run_id = run_id;
    spending.entry.thread_id = run_id;
    note(&spending);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

#define TEXT(text)  ((char *)(uintptr_t)(text))
#define GROUP(name) RENGA__V1__USAGE_GROUP__USAGE_GROUP_##name
#define GROUPS(...)                                                                                                    \
    .group_by = (Renga__V1__UsageGroup[]){__VA_ARGS__},                                                                \
    .n_group_by = sizeof((Renga__V1__UsageGroup[]){__VA_ARGS__}) / sizeof(Renga__V1__UsageGroup)
/* A request with these fields set: REQUEST(GROUPS(GROUP(CLIENT)), .from_ms = 1); texts may be NULL. */
#define REQUEST(...)                                                                                                   \
    (Renga__V1__GetUsageRequest)                                                                                       \
    {                                                                                                                  \
        .base = PROTOBUF_C_MESSAGE_INIT(&renga__v1__get_usage_request__descriptor), __VA_ARGS__                        \
    }

static inline Renga__V1__GetUsageRequest whole(const Renga__V1__GetUsageRequest *request)
{
    Renga__V1__GetUsageRequest copy = *request;
    char **const texts[] = {&copy.client, &copy.tenant,    &copy.model,     &copy.deployment,
                            &copy.run_id, &copy.thread_id, &copy.page_token};
    for (size_t i = 0; i < COUNT(texts); i++)
        if (!*texts[i])
            *texts[i] = TEXT("");
    return copy;
}

struct asked {
    struct rpc_client_call call;
    sem_t done;
    unsigned ends;
    struct status status;
    Renga__V1__GetUsageResponse *response; /* NULL: see status */
};

static inline void usage_came(const Renga__V1__GetUsageResponse *response, void *data)
{
    struct asked *asked = ((struct rpc_client_call *)data)->owner;
    asked->status = asked->call.status;
    if (response) {
        size_t size = renga__v1__get_usage_response__get_packed_size(response);
        uint8_t *bytes = malloc(size + 1);
        renga__v1__get_usage_response__pack(response, bytes);
        asked->response = renga__v1__get_usage_response__unpack(NULL, size, bytes);
        free(bytes);
    }
    asked->ends++;
    sem_post(&asked->done);
}

static inline struct asked *begin_asking(const Renga__V1__GetUsageRequest *request,
                                         const struct rpc_principal *principal, int64_t timeout_ms)
{
    Renga__V1__GetUsageRequest filled = whole(request);
    struct asked *asked = calloc(1, sizeof *asked);
    sem_init(&asked->done, 0, 0);
    loop_enter(house.loop);
    rpc_client_call_init(&asked->call, house.loop, NULL);
    asked->call.principal = principal;
    asked->call.timeout_ms = timeout_ms;
    asked->call.owner = asked;
    renga__v1__llm_gateway__get_usage(house.stub, &filled, usage_came, &asked->call);
    loop_leave(house.loop);
    return asked;
}

static inline void await_asked(struct asked *asked)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    assert_int_equal(sem_timedwait(&asked->done, &until), 0);
    assert_int_equal(asked->ends, 1);
}

static inline void asked_free(struct asked *asked)
{
    if (asked->response)
        renga__v1__get_usage_response__free_unpacked(asked->response, NULL);
    sem_destroy(&asked->done);
    free(asked);
}

static inline struct asked *ask_as(const struct rpc_principal *principal, Renga__V1__GetUsageRequest request)
{
    struct asked *asked = begin_asking(&request, principal, 10000);
    await_asked(asked);
    return asked;
}

/* Fails the test where there is no answer. */
static inline struct asked *ask(Renga__V1__GetUsageRequest request)
{
    struct asked *asked = ask_as(NULL, request);
    if (!asked->response)
        fail_msg("%s: %s", status_code_name((int)asked->status.code), asked->status.text);
    return asked;
}

static inline void assert_refused(Renga__V1__GetUsageRequest request, enum status_code code, const char *part)
{
    struct asked *asked = ask_as(NULL, request);
    assert_null(asked->response);
    assert_string_equal(status_code_name((int)asked->status.code), status_code_name((int)code));
    assert_contains(asked->status.text, part);
    asked_free(asked);
}

static inline int64_t total_micros(Renga__V1__GetUsageRequest request)
{
    struct asked *asked = ask(request);
    int64_t micros = asked->response->totals->usage->cost_micros;
    asked_free(asked);
    return micros;
}

#define TRIES 3000 /* of 10 ms */

static inline void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static inline struct ledger_stats stats_now(void)
{
    struct ledger_stats stats;
    ledger_stats(house.ledger, &stats);
    return stats;
}

static inline void await_failure(void)
{
    uint64_t before = stats_now().failures;
    for (int i = 0; i < TRIES && stats_now().failures == before; i++)
        nap();
    assert_true(stats_now().failures > before);
}

static inline void await_written(void)
{
    for (int i = 0; i < TRIES && stats_now().pending; i++)
        nap();
    assert_int_equal(stats_now().pending, 0);
    assert_int_equal(stats_now().behind_ms, 0);
}

static inline struct sql_file *open_beside(void)
{
    struct status st = {0};
    struct ledger same = {.path = house.path};
    struct sql_file *database = ledger_open(&same, &st);
    assert_non_null(database);
    return database;
}

/* Notes while the file is dead are kept and are in it once it lives again. */
static inline void assert_recovers(int64_t micros)
{
    await_written();
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), micros);
    close_ledger();
    open_ledger(house.path);
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), micros);
}

#endif
