#include "calls.h"

#include "daemon/process.h"
#include "gateway.h"
#include "loop/loop.h"
#include "orchestrator.h"
#include "planner.h"
#include "readers.h"
#include "reviewer.h"
#include "rpc/message_json.h"
#include "rpc/rpc.h"
#include "suite.h"
#include "tool_runner.h"
#include "json/json.h"
#include "json/writer.h"

#include "renga/v1/helpdesk.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "renga/v1/planner.pb-c.h"
#include "renga/v1/reviewer.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <ftw.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALL_TIMEOUT_MS  120000
#define FOLDER_MAX       64
#define TEXT_MARK        "@"
#define NUMBER_MARK      "#"
#define UNCONST(pointer) ((void *)(uintptr_t)(pointer)) /* protobuf-c knows no const, and does not change it */

static struct {
    struct daemon_process *process;
    struct config *config;
    char folder[FOLDER_MAX];
    const char *answer; /* of the model; NULL: extractive answers */
} house;

/* ---- the model --------------------------------------------------------------------------------------------------- */

static void (*own_chat)(Renga__V1__LlmGateway_Service *service, const Renga__V1__ChatRequest *request,
                        Renga__V1__ChatResponse_Closure reply, void *data);

static void calls_chat(Renga__V1__LlmGateway_Service *service, const Renga__V1__ChatRequest *request,
                       Renga__V1__ChatResponse_Closure reply, void *data)
{
    Renga__V1__ChatResponse response = RENGA__V1__CHAT_RESPONSE__INIT;
    Renga__V1__ChatMessage message = RENGA__V1__CHAT_MESSAGE__INIT;
    Renga__V1__ChatFinish finish = RENGA__V1__CHAT_FINISH__INIT;
    if (!house.answer) {
        own_chat(service, request, reply, data);
        return;
    }
    message.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    message.content = finish.structured_json = UNCONST(house.answer);
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_STOP;
    response.message = &message;
    response.finish = &finish;
    reply(&response, data);
}

static ProtobufCService *create_gateway(const struct service_context *context, struct status *st)
{
    ProtobufCService *service = llm_gateway_service.create(context, st);
    Renga__V1__LlmGateway_Service *gateway = (Renga__V1__LlmGateway_Service *)service;
    if (gateway) {
        own_chat = gateway->chat;
        gateway->chat = calls_chat;
    }
    return service;
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

static void calls_write_file(const char *name, const char *text)
{
    char path[FOLDER_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", house.folder, name);
    for (char *slash = path + strlen(house.folder); (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

/* The agent of a row is called as its place in the table. */
static void write_agent(size_t row, const struct graph_form *form)
{
    struct buffer text;
    char name[64];
    buffer_init(&text, SIZE_MAX);
    buffer_printf(&text, "{\"agent\":\"r%zu\",\"state\":{%s},\"start\":\"n\",\"nodes\":{\"n\":{%s}}}", row, form->state,
                  form->node);
    snprintf(name, sizeof name, "agents/r%zu/graph.json", row);
    calls_write_file(name, buffer_text(&text));
    snprintf(name, sizeof name, "agents/r%zu/prompts/en/p.md", row);
    calls_write_file(name, "{t}");
    buffer_fini(&text);
}

static void write_agents(void)
{
    calls_write_file("agents/plain/graph.json",
                     "{\"agent\":\"plain\",\"state\":{\"x\":{\"type\":\"any\"}},\"start\":\"n\","
                     "\"nodes\":{\"n\":{\"kind\":\"noop\"}}}");
    for (const struct reader *reader = readers_graphs; reader->name; reader++)
        write_agent((size_t)(reader - readers_graphs), reader->with);
}

static void start_process(void)
{
    static struct service gateway;
    static const struct service *services[] = {
        &gateway, &planner_service, &tool_runner_service, &reviewer_service, &orchestrator_service, &helpdesk_service,
        NULL};
    static struct daemon daemon;
    struct status st = {0};
    char agents[128], knowledge[128];
    int code;
    gateway = llm_gateway_service;
    gateway.create = create_gateway;
    daemon = suite_daemon("linear", "is asked by its own test", services);
    strcpy(house.folder, "/tmp/renga-linear-XXXXXX");
    if (!mkdtemp(house.folder))
        abort();
    write_agents();
    snprintf(agents, sizeof agents, "--orchestrator.agents=%s/agents", house.folder);
    snprintf(knowledge, sizeof knowledge, "--tool_runner.store=%s/knowledge.db", house.folder);
    char *arguments[] = {UNCONST("linear"),
                         agents,
                         knowledge,
                         UNCONST("--orchestrator.store=memory:"),
                         UNCONST("--tool_runner.record=memory:"),
                         UNCONST("--llm_gateway.provider=extractive"),
                         UNCONST("--loops=1"),
                         UNCONST("--log.level=error"),
                         NULL};
    signal(SIGPIPE, SIG_IGN);
    house.config = daemon_configure(&daemon, (int)(sizeof arguments / sizeof *arguments) - 1, arguments, &code);
    house.process = house.config ? process_start(&daemon, house.config, &st) : NULL;
    if (!house.process) {
        fprintf(stderr, "the services do not start: %s\n", st.text);
        abort();
    }
    reading_keeps_memory(); /* the process has its own mind about it */
}

static int calls_remove_file(const char *path, const struct stat *stat, int flag, struct FTW *place)
{
    return remove(path);
}

void calls_end(void)
{
    process_stop(&house.process);
    if (house.config)
        config_destroy(house.config);
    if (house.folder[0])
        nftw(house.folder, calls_remove_file, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

struct call {
    struct work work;
    struct rpc_client_call call;
    ProtobufCService *stub;
    unsigned index;
    const ProtobufCMessage *request;
    sem_t ended;
    struct status run; /* of a run that did not succeed */
};

static void calls_judge_run(struct call *call, const Renga__V1__Run *run)
{
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED)
        fail(&call->run, ABORTED, "the run ended in state %d: %s", (int)run->state, run->stop_text);
}

/* For each message of a stream, and once more at its end. */
static void calls_answered(const ProtobufCMessage *message, void *data)
{
    struct call *call = ((struct rpc_client_call *)data)->owner;
    if (message && message->descriptor == &renga__v1__start_run_response__descriptor)
        calls_judge_run(call, ((const Renga__V1__StartRunResponse *)message)->run);
    if (!call->call.outbound)
        sem_post(&call->ended);
}

static void calls_invoke(struct work *work)
{
    struct call *call = CONTAINER_OF(work, struct call, work);
    rpc_client_call_init(&call->call, process_loop(house.process), NULL);
    call->call.timeout_ms = CALL_TIMEOUT_MS;
    call->call.owner = call;
    call->stub->invoke(call->stub, call->index, call->request, calls_answered, &call->call);
}

static bool calls_invoke_method(const ProtobufCMethodDescriptor *method, const ProtobufCServiceDescriptor *service,
                                const ProtobufCMessage *request, struct status *st)
{
    struct call call = {.request = request, .index = (unsigned)(method - service->methods)};
    call.stub = process_stub(house.process, service, st);
    if (!call.stub)
        return false;
    call.work.run = calls_invoke;
    sem_init(&call.ended, 0, 0);
    loop_post(process_loop(house.process), &call.work);
    while (sem_wait(&call.ended) != 0)
        continue;
    sem_destroy(&call.ended);
    *st = call.call.status.code != OK ? call.call.status : call.run;
    return st->code == OK;
}

static const ProtobufCServiceDescriptor *service_of(const char *method)
{
    static const ProtobufCServiceDescriptor *const services[] = {
        &renga__v1__llm_gateway__descriptor, &renga__v1__planner__descriptor,      &renga__v1__tool_runner__descriptor,
        &renga__v1__reviewer__descriptor,    &renga__v1__orchestrator__descriptor, &renga__v1__helpdesk__descriptor,
    };
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        size_t length = strlen(services[i]->short_name);
        if (strncmp(services[i]->short_name, method, length) == 0 && method[length] == '.')
            return services[i];
    }
    fprintf(stderr, "no service has the method '%s'\n", method);
    abort();
}

static void put_content(const struct input *in, ProtobufCMessage *request)
{
    static const char usual[] = "Port 1 is open.";
    const struct method_form *form = in->with;
    const Renga__V1__IndexDocumentsRequest *index = (const Renga__V1__IndexDocumentsRequest *)request;
    if (request->descriptor != &renga__v1__index_documents_request__descriptor || !index->documents)
        return;
    for (size_t i = 0; i < index->documents->n_documents; i++)
        index->documents->documents[i]->content = form->request
                                                      ? (ProtobufCBinaryData){in->length, UNCONST(in->text)}
                                                      : (ProtobufCBinaryData){sizeof usual - 1, UNCONST(usual)};
}

/* False with the reason, also for a request that is not valid. */
static bool call_json(struct input *in, const char *name, const cJSON *tree)
{
    const ProtobufCServiceDescriptor *service = service_of(name);
    const ProtobufCMethodDescriptor *method =
        protobuf_c_service_descriptor_get_method_by_name(service, strchr(name, '.') + 1);
    struct arena arena;
    arena_init(&arena, NULL, 0, INPUT_MEMORY_MAX);
    ProtobufCMessage *request = tree ? message_read_json(method->input, tree, &arena, &in->st) : NULL;
    if (request)
        put_content(in, request);
    bool good = request && calls_invoke_method(method, service, request, &in->st);
    arena_fini(&arena);
    if (!good && getenv("RENGA_TELL"))
        fprintf(stderr, "%s: %s: %s\n", name, status_code_name((int)in->st.code), in->st.text);
    return good;
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */

static void calls_put_text(cJSON *tree, const char *text)
{
    cJSON *item;
    static unsigned calls;
    char number[32];
    snprintf(number, sizeof number, "%u", ++calls);
    if (cJSON_IsString(tree) && strcmp(tree->valuestring, TEXT_MARK) == 0)
        cJSON_SetValuestring(tree, text);
    if (cJSON_IsString(tree) && strcmp(tree->valuestring, NUMBER_MARK) == 0)
        cJSON_SetValuestring(tree, number);
    cJSON_ArrayForEach(item, tree) calls_put_text(item, text);
}

/* The form with the text in its place; without a form the text itself. NULL if that is no JSON. */
static cJSON *fill_form(struct input *in, const char *form)
{
    if (!form)
        return input_json(in);
    in->tree = json_parse(form, strlen(form), NULL, &in->st);
    if (!in->tree)
        abort();
    calls_put_text(in->tree, in->text);
    return in->tree;
}

static void calls_prepare(const struct input *in, bool answers)
{
    if (!house.process)
        start_process();
    house.answer = answers ? in->text : NULL;
}

void call_method(struct input *in)
{
    const struct method_form *form = in->with;
    calls_prepare(in, form->answers);
    in->accepted = call_json(in, form->method, fill_form(in, form->request));
}

void call_graph(struct input *in)
{
    static const char deletion[] = "{\"thread_id\":\"t\",\"cancel_runs\":true}";
    const struct graph_form *form = in->with;
    calls_prepare(in, false);
    if (!fill_form(in, form->start))
        return;
    cJSON *request = cJSON_CreateObject(), *rest = json_parse(deletion, sizeof deletion - 1, NULL, &in->st);
    cJSON_AddStringToObject(request, "agent", arena_printf(&in->arena, "r%zu", (size_t)(in->reader - readers_graphs)));
    cJSON_AddStringToObject(request, "thread_id", "t");
    cJSON_AddTrueToObject(request, "wait");
    cJSON_AddItemToObject(request, "input", in->tree); /* of input_json, as message_json.h has it */
    in->tree = NULL;
    bool ran = call_json(in, "Orchestrator.StartRun", request);
    in->accepted = call_json(in, "Orchestrator.DeleteThread", rest) && ran;
    cJSON_Delete(request);
    cJSON_Delete(rest);
}
