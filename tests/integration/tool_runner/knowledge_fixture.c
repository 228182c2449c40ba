#include "knowledge_fixture.h"

#include "base/log.h"
#include "config/config.h"
#include "http/client.h"
#include "proto/descriptor_set.h"
#include "rpc/channel.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"
#include "telemetry/metrics.h"
#include "tool_runner.h"

#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_S       60
#define CALLS_MS     60000
#define STATE_PREFIX "/tmp/renga-kb-"

static struct house {
    struct fixture fixture; /* first */
    struct metrics *metrics;
    struct http_client *http;
    struct config *config;
    struct rpc_schema *schema;
    struct rpc_server *server;
    struct rpc_channel *channel;
    ProtobufCService *instance, *remote;
    char state[48];  /* folder of all that the test makes */
    char folder[96]; /* the test's own, whatever the fixture's points at by now */
} house;

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static ProtobufCMessage *copy(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);
    protobuf_c_message_pack(message, bytes);
    ProtobufCMessage *copied = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
    free(bytes);
    return copied;
}

static bool streams(const struct answer *answer)
{
    return answer->call.metadata_count == 0 && answer->call.owner == NULL;
}

static void answered(const ProtobufCMessage *message, void *data)
{
    struct answer *answer = CONTAINER_OF(data, struct answer, call);
    if (message) {
        if (answer->message)
            protobuf_c_message_free_unpacked(answer->message, NULL);
        answer->message = copy(message);
        if (message->descriptor == &renga__v1__index_documents_progress__descriptor)
            answer->skipped += ((const Renga__V1__IndexDocumentsProgress *)message)->n_skipped;
        if (answer->messages++ == 0)
            sem_post(&answer->first);
    }
    if (message && streams(answer))
        return;
    answer->status = answer->call.status;
    sem_post(&answer->first);
    sem_post(&answer->done);
}

struct answer *begin_call(struct fixture *fixture, const char *tenant, const char *method,
                          const ProtobufCMessage *request)
{
    static struct rpc_principal principals[8];
    struct answer *answer = calloc(1, sizeof *answer);
    ProtobufCService *stub = tenant ? fixture->local : fixture->stub;
    const ProtobufCMethodDescriptor *found = protobuf_c_service_descriptor_get_method_by_name(stub->descriptor, method);
    unsigned index = (unsigned)(found - stub->descriptor->methods);
    sem_init(&answer->done, 0, 0);
    sem_init(&answer->first, 0, 0);
    loop_enter(fixture->loop);
    rpc_client_call_init(&answer->call, fixture->loop, NULL);
    answer->call.timeout_ms = CALLS_MS;
    answer->call.owner = strcmp(method, "IndexDocuments") == 0 ? NULL : answer;
    for (size_t i = 0; tenant && i < 8; i++)
        if (!principals[i].name || strcmp(principals[i].tenant, tenant) == 0) {
            principals[i] = (struct rpc_principal){tenant, tenant};
            answer->call.principal = &principals[i];
            break;
        }
    stub->invoke(stub, index, request, answered, &answer->call);
    loop_leave(fixture->loop);
    return answer;
}

void await(struct answer *answer)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    if (sem_timedwait(&answer->done, &until) != 0)
        fatal("test.wait", "a call did not end in %d s", WAIT_S);
}

struct answer *make_call(struct fixture *fixture, const char *tenant, const char *method,
                         const ProtobufCMessage *request)
{
    struct answer *answer = begin_call(fixture, tenant, method, request);
    await(answer);
    return answer;
}

void answer_free(struct answer *answer)
{
    if (answer->message)
        protobuf_c_message_free_unpacked(answer->message, NULL);
    free(answer);
}

void assert_status(const struct answer *answer, enum status_code code, const char *part)
{
    if (answer->status.code == code && strstr(answer->status.text, part))
        return;
    print_error("%s: %s\n", status_code_name((int)answer->status.code), answer->status.text);
    assert_int_equal(answer->status.code, code);
    assert_non_null(strstr(answer->status.text, part));
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

#define TEXT(text) ((char *)(uintptr_t)(text))

struct answer *index_folder(struct fixture *fixture, const char *collection)
{
    Renga__V1__IndexDocumentsRequest request = RENGA__V1__INDEX_DOCUMENTS_REQUEST__INIT;
    request.collection = TEXT(collection);
    request.source_case = RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_FOLDER;
    request.folder = fixture->folder;
    return make_call(fixture, NULL, "IndexDocuments", &request.base);
}

struct answer *index_text(struct fixture *fixture, const char *tenant, const char *collection, const char *path,
                          const char *text)
{
    Renga__V1__IndexDocumentsRequest request = RENGA__V1__INDEX_DOCUMENTS_REQUEST__INIT;
    Renga__V1__InlineDocuments documents = RENGA__V1__INLINE_DOCUMENTS__INIT;
    Renga__V1__InlineDocument document = RENGA__V1__INLINE_DOCUMENT__INIT, *list[] = {&document};
    document.path = TEXT(path);
    document.content = (ProtobufCBinaryData){strlen(text), (uint8_t *)TEXT(text)};
    documents.documents = list;
    documents.n_documents = 1;
    request.collection = TEXT(collection);
    request.source_case = RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_DOCUMENTS;
    request.documents = &documents;
    return make_call(fixture, tenant, "IndexDocuments", &request.base);
}

struct answer *search(struct fixture *fixture, const char *tenant, const char *collection, const char *query)
{
    Renga__V1__SearchRequest request = RENGA__V1__SEARCH_REQUEST__INIT;
    char *collections[] = {TEXT(collection)};
    request.query = TEXT(query);
    request.collections = collections;
    request.n_collections = *collection != '\0';
    return make_call(fixture, tenant, "Search", &request.base);
}

const Renga__V1__SearchResponse *found(const struct answer *answer)
{
    if (answer->status.code != OK)
        assert_status(answer, OK, "");
    return (const Renga__V1__SearchResponse *)answer->message;
}

const Renga__V1__IndexDocumentsProgress *progress(const struct answer *answer)
{
    if (answer->status.code != OK)
        assert_status(answer, OK, "");
    return (const Renga__V1__IndexDocumentsProgress *)answer->message;
}

void assert_ends(struct answer *answer, enum status_code code, const char *part_of_text)
{
    assert_status(answer, code, part_of_text);
    answer_free(answer);
}

void assert_hits(struct fixture *fixture, const char *tenant, const char *collection, const char *query, size_t hits)
{
    struct answer *answer = search(fixture, tenant, collection, query);
    assert_int_equal(found(answer)->n_hits, hits);
    answer_free(answer);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

void put_file(struct fixture *fixture, const char *path, const char *text)
{
    char full[512], above[512];
    snprintf(full, sizeof full, "%s/%s", fixture->folder, path);
    snprintf(above, sizeof above, "%s", full);
    if (!text) {
        assert_int_equal(unlink(full), 0);
        return;
    }
    mkdir(dirname(above), 0700);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *at)
{
    return remove(path);
}

/* Only what this program has made: tests point `folder` elsewhere, and one that fails leaves it so. */
static void remove_own(const char *path)
{
    size_t length = strlen(house.state);
    if (strncmp(house.state, STATE_PREFIX, strlen(STATE_PREFIX)) != 0 || strncmp(path, house.state, length) != 0 ||
        (path[length] && path[length] != '/') || strstr(path, "/."))
        fatal("test.remove", "'%s' is none of the folders that this test has made", path);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the house --------------------------------------------------------------------------------------------------- */

static void configure(void)
{
    static const struct option none[] = {{.name = NULL}};
    const struct option *tables[] = {tool_runner_service.options, none};
    struct status st = {0};
    char store[128], roots[128];
    snprintf(store, sizeof store, "--tool_runner.store=%s/knowledge.db", house.state);
    snprintf(roots, sizeof roots, "--tool_runner.roots=%s", house.fixture.root);
    char *arguments[] = {
        TEXT("test"), store, roots, TEXT("--tool_runner.tenant_quota=2MiB"), TEXT("--tool_runner.record=memory:"),
        NULL};
    house.config = config_create(tables, 2, &st);
    assert_non_null(house.config);
    if (!config_read(house.config, 5, arguments, &st))
        fatal("test.config", "%s", st.text);
}

static void create_instance(void)
{
    struct status st = {0};
    struct http_client_options options = {0};
    loop_enter(house.fixture.loop);
    house.http = http_client_create(house.fixture.loop, &options);
    house.metrics = metrics_create(1);
    struct service_context context = {
        .config = house.config, .loop = house.fixture.loop, .http = house.http, .metrics = house.metrics};
    house.instance = tool_runner_service.create(&context, &st);
    loop_leave(house.fixture.loop);
    if (!house.instance)
        fatal("test.create", "%s", st.text);
}

static void serve(void)
{
    struct status st = {0};
    struct rpc_server_options options = {
        .loops = &house.fixture.loop, .loop_count = 1, .schema = house.schema, .listen = "127.0.0.1:0"};
    if (!rpc_start(&house.fixture.loop, 1, &st) || !(house.server = rpc_server_create(&options, &st)))
        fatal("test.serve", "%s", st.text);
    rpc_server_add(house.server, &house.instance);
    if (!rpc_server_start(house.server, &st))
        fatal("test.serve", "%s", st.text);
    char target[64];
    snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", rpc_server_port(house.server));
    struct rpc_channel_options channel = {.schema = house.schema, .target = target};
    house.channel = rpc_channel_create(&channel, &st);
    house.remote = rpc_channel_stub(house.channel, house.instance->descriptor, &st);
    house.fixture.local = rpc_local_stub(house.schema, &house.instance, 0, NULL);
}

/* The channel connects on its own time, and a call before that fails at once. */
static void wait_until_served(void)
{
    Renga__V1__GetKnowledgeBaseRequest request = RENGA__V1__GET_KNOWLEDGE_BASE_REQUEST__INIT;
    house.fixture.stub = house.remote;
    for (int attempt = 0; attempt < 100; attempt++) {
        struct answer *answer = make_call(&house.fixture, NULL, "GetKnowledgeBase", &request.base);
        bool served = answer->status.code == OK;
        answer_free(answer);
        if (served)
            return;
        usleep(100000);
    }
    fatal("test.serve", "the tool-runner's port does not answer");
}

static void move_in(void)
{
    struct status st = {0};
    log_configure("knowledge-test", LOG_ERROR, LOG_FORMAT_TEXT);
    strcpy(house.state, STATE_PREFIX "XXXXXX");
    assert_non_null(mkdtemp(house.state));
    snprintf(house.fixture.root, sizeof house.fixture.root, "%s/docs", house.state);
    mkdir(house.fixture.root, 0700);
    snprintf(house.fixture.outside, sizeof house.fixture.outside, "%s/outside", house.state);
    mkdir(house.fixture.outside, 0700);
    configure();
    house.schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    house.fixture.loop = loop_create(0);
    if (!house.schema || !loop_start(house.fixture.loop, &st))
        fatal("test.start", "%s", st.text);
    create_instance();
    serve();
    wait_until_served();
}

static void move_out(void)
{
    protobuf_c_service_destroy(house.fixture.local);
    protobuf_c_service_destroy(house.remote);
    rpc_channel_destroy(&house.channel);
    rpc_server_destroy(&house.server);
    rpc_stop();
    loop_enter(house.fixture.loop);
    tool_runner_service.destroy(house.instance);
    http_client_destroy(&house.http);
    loop_leave(house.fixture.loop);
    metrics_destroy(&house.metrics);
    loop_stop(house.fixture.loop);
    loop_destroy(&house.fixture.loop);
    rpc_schema_destroy(&house.schema);
    config_destroy(house.config);
    remove_own(house.state);
}

static int take_local(void **state)
{
    house.fixture.stub = house.fixture.local;
    *state = &house.fixture;
    return 0;
}

static int take_remote(void **state)
{
    house.fixture.stub = house.remote;
    *state = &house.fixture;
    return 0;
}

/* Each test begins with nothing. */
static int empty(void **state)
{
    Renga__V1__GetKnowledgeBaseRequest request = RENGA__V1__GET_KNOWLEDGE_BASE_REQUEST__INIT;
    struct fixture *fixture = *state;
    struct answer *held = make_call(fixture, NULL, "GetKnowledgeBase", &request.base);
    const Renga__V1__GetKnowledgeBaseResponse *base = (const Renga__V1__GetKnowledgeBaseResponse *)held->message;
    for (size_t i = 0; base && i < base->n_collections; i++) {
        Renga__V1__DeleteDocumentsRequest all = RENGA__V1__DELETE_DOCUMENTS_REQUEST__INIT;
        all.collection = base->collections[i]->name;
        answer_free(make_call(fixture, NULL, "DeleteDocuments", &all.base));
    }
    answer_free(held);
    snprintf(house.folder, sizeof house.folder, "%s/XXXXXX", fixture->root);
    if (!mkdtemp(house.folder))
        return -1;
    strcpy(fixture->folder, house.folder);
    return 0;
}

static int tidy(void **state)
{
    remove_own(house.folder);
    return 0;
}

int run_both_ways(const char *name, const struct CMUnitTest *tests, size_t count)
{
    struct CMUnitTest emptied[32];
    char title[64];
    for (size_t i = 0; i < count; i++) {
        emptied[i] = tests[i];
        emptied[i].setup_func = empty;
        emptied[i].teardown_func = tidy;
    }
    move_in();
    snprintf(title, sizeof title, "%s in process", name);
    int failed = _cmocka_run_group_tests(title, emptied, count, take_local, NULL);
    snprintf(title, sizeof title, "%s over gRPC", name);
    failed += _cmocka_run_group_tests(title, emptied, count, take_remote, NULL);
    move_out();
    return failed;
}

void assert_first(const struct answer *answer, const char *uri, int line_from, int line_to)
{
    const Renga__V1__SearchResponse *response = found(answer);
    assert_true(response->n_hits > 0);
    assert_string_equal(response->hits[0]->uri, uri);
    assert_int_equal(response->hits[0]->line_from, line_from);
    assert_int_equal(response->hits[0]->line_to, line_to);
}

void write_manual(struct fixture *fixture)
{
    put_file(fixture, "guide/start.md",
             "# はじめに\n\nこの手引きは導入を説明します。\n\n## 設定\n\n設定ファイルは config.yaml です。\nポートは "
             "8080 を使います。\n");
    put_file(
        fixture, "guide/errors.md",
        "# Errors\n\n## E-1024\n\nThe connection timed out. Check the cable and restart the router.\n\n## E-2048\n\n"
        "The disk is full.\n");
    put_file(fixture, "faq.csv",
             "質問,回答\nパスワードを忘れました,再設定画面から変更してください。\n"
             "How do I log out?,Use the menu at the top right.\n");
    put_file(fixture, "page.html",
             "<title>Pricing</title>\n<h1>Plans</h1>\n<p>The basic plan costs ten dollars.</p>\n");
    put_file(fixture, "notes.txt", "月は東に\n\n日は西に\n");
}
