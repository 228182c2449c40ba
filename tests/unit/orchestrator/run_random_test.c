/* Requests, ends of nodes and crashes at random, on one thread: what is in memory is what the log gives; every request
 * is answered, and no run stands still. RENGA_ROUNDS: how many threads; RENGA_SEED: the first. */
#include "unit.h"

#include "migrate_fixture.h"

#include "base/log.h"

#define ROUNDS    200
#define MOVES     80 /* on a thread */
#define ASKED_MAX 200
#define RUNS_SEEN 5 /* the newest, that are compared */

#define STATE(more)                                                                                                    \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"n\": {\"type\": \"number\", "            \
    "\"reduce\": "                                                                                                     \
    "\"sum\"}, \"x\": {\"type\": \"any\"}, \"items\": {\"type\": \"string[]\"}, \"out\": {\"type\": \"object[]\", "    \
    "\"reduce\": \"append\"}" more "}, "
#define NODES(then, more)                                                                                              \
    "\"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": [\"s\", \"w\"]}}, "     \
    "\"s\": {\"kind\": \"script\", \"on\": {\"done\": " then "}}, \"w\": {\"kind\": \"each\", \"of\": \"items\", "     \
    "\"as\": \"item\", \"graph\": \"sub\", \"into\": \"out\", \"on\": {\"done\": \"z\"}}, " more                       \
    "\"z\": {\"kind\": \"script\"}}, "
#define SUB(more)                                                                                                      \
    "\"graphs\": {\"sub\": {\"state\": {\"item\": {\"type\": \"string\"}, \"r\": {\"type\": \"string\"}}, " more       \
    "\"input\": [\"item\"], \"output\": [\"r\"], \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"script\", "         \
    "\"on\": {\"done\": \"m\"}}, \"m\": {\"kind\": \"script\"}}}}"
#define Z "\"z\""
/* Three ways to "w", in three steps. */
#define FLOWS                                                                                                          \
    "\"mode\": \"dataflow\", \"start\": \"a\", " NODES("[\"z\", \"w\", \"b\"]", "\"b\": {\"kind\": \"script\", "       \
                                                                                "\"on\": {\"done\": \"w\"}}, ")
static const char *const documents[] = {
    STATE("") "\"start\": \"a\", " NODES(Z, "") SUB(""),
    STATE(", \"more\": {\"type\": \"string\", \"initial\": \"new\"}") "\"start\": [\"b\", \"a\"], " NODES(
        Z, "\"b\": {\"kind\": \"script\", \"on\": {\"done\": \"z\"}}, ") SUB(""),
    STATE("") "\"mode\": \"dataflow\", \"start\": \"a\", " NODES(Z, "") SUB("\"memory\": \"thread\", "),
    STATE("") FLOWS SUB(""),
    STATE("") FLOWS SUB("\"memory\": \"thread\", "),
};
#define VERSIONS (sizeof documents / sizeof *documents)
static struct agent *versions[VERSIONS];

#define NODE_PENDING RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_PENDING
#define NODE_FAILED  RENGA__V1__DUE_NODE_STATE__DUE_NODE_STATE_FAILED

static uint64_t chance;

static unsigned below(unsigned n)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)((chance >> 11) % n);
}

#define ONE_OF(list) (char *)(uintptr_t)(list)[below(sizeof(list) / sizeof *(list))]

/* ---- what was asked ---------------------------------------------------------------------------------------------- */

static struct asked {
    struct test_request *sent;
    ProtobufCMessage *request;
} asked[ASKED_MAX];
static size_t asked_count;
static char runs[ASKED_MAX][64], checkpoints[ASKED_MAX][64];
static size_t run_count, checkpoint_count;

static void hear(struct asked *one)
{
    const struct status *st = &one->sent->request.status;
    const ProtobufCMessage *response = one->sent->request.response;
    if (st->code == INTERNAL || st->code == DATA_LOSS)
        fail_msg("%s: %s", one->request->descriptor->name, st->text);
    if (response && response->descriptor == &renga__v1__start_run_response__descriptor && run_count < ASKED_MAX)
        snprintf(runs[run_count++], 64, "%s", ((const Renga__V1__StartRunResponse *)response)->run->run_id);
    ask_end(one->sent);
    free(one->request);
}

/* Of those that have their answer; `all`: they have it. */
static void hear_all(bool all)
{
    size_t left = 0;
    for (size_t i = 0; i < asked_count; i++)
        if (all || asked[i].sent->answers)
            hear(&asked[i]);
        else
            asked[left++] = asked[i];
    asked_count = left;
}

static void *make(const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *request = calloc(1, type->sizeof_message);
    protobuf_c_message_init(type, request);
    return request;
}

/* Often before the one before has its answer. */
static void send_off(void *request)
{
    asked[asked_count++] = (struct asked){send_to_runner(&stage, request, false), request};
    if (below(3))
        stage_settle(&stage, 0);
    hear_all(false);
}

static char *some_run(void)
{
    size_t latest = run_count < 4 ? run_count : 4;
    return latest ? runs[run_count - 1 - below((unsigned)latest)] : NULL;
}

static char *some_checkpoint(void)
{
    static char none[1];
    return checkpoint_count && below(4) == 0 ? checkpoints[below((unsigned)checkpoint_count)] : none;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static void start_one(void)
{
    static const char *const inputs[] = {"",
                                         "{\"log\":[\"i\"],\"n\":1}",
                                         "{\"items\":[\"p\",\"q\",\"r\"]}",
                                         "{\"n\":1e308}",
                                         "{\"n\":-1e308}",
                                         "{\"items\":[\"s\"],\"x\":{\"k\":1}}"};
    static char s[] = "s", a[] = "a", *before[] = {s}, *after[] = {a}, thread[] = "t";
    Renga__V1__StartRunRequest *request = make(&renga__v1__start_run_request__descriptor);
    request->agent = a;
    request->thread_id = thread;
    request->input_json = ONE_OF(inputs);
    request->on_busy = (Renga__V1__OnBusy)below(5);
    request->checkpoint_id = some_checkpoint();
    if (below(3) == 0)
        request->graph_version = versions[below(VERSIONS)]->version;
    request->interrupt_before = before;
    request->n_interrupt_before = below(6) == 0;
    request->interrupt_after = after;
    request->n_interrupt_after = below(8) == 0;
    send_off(request);
}

static void cancel_one(void)
{
    Renga__V1__CancelRunRequest *request = make(&renga__v1__cancel_run_request__descriptor);
    request->run_id = some_run();
    send_off(request);
}

/* Alive until the request has its answer: one for each. */
static Renga__V1__ResumeUpdate *some_update(void)
{
    static Renga__V1__ResumeUpdate updates[ASKED_MAX];
    static unsigned next;
    static const char *const texts[] = {"", "{\"log\":[\"r\"]}", "{\"n\":1}", "{\"nothing\":1}",
                                        "{\"items\":[\"1\",\"2\"]}"};
    static const char *const nodes[] = {"", "", "a", "s", "z", "b"};
    Renga__V1__ResumeUpdate *update = &updates[next++ % ASKED_MAX];
    renga__v1__resume_update__init(update);
    update->update_json = ONE_OF(texts);
    update->as_node = ONE_OF(nodes);
    return update;
}

static void resume_one(void)
{
    static char answer[] = "5";
    Renga__V1__ResumeRunRequest *request = make(&renga__v1__resume_run_request__descriptor);
    request->run_id = some_run();
    if (below(2)) {
        request->maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
        request->answer_json = answer;
    }
    if (below(2))
        request->update = some_update();
    send_off(request);
}

static void update_it(void)
{
    static const char *const nodes[] = {"", "a", "s", "z", "b"};
    static const char *const updates[] = {"{\"log\":[\"u\"]}",         "{\"n\":1}",        "{\"nothing\":1}",
                                          "{\"items\":[\"1\",\"2\"]}", "{\"more\":\"m\"}", "{}"};
    static char thread[] = "t";
    Renga__V1__UpdateStateRequest *request = make(&renga__v1__update_state_request__descriptor);
    request->thread_id = thread;
    request->update_json = ONE_OF(updates);
    request->as_node = ONE_OF(nodes);
    request->checkpoint_id = some_checkpoint();
    send_off(request);
}

static void migrate_one(void)
{
    Renga__V1__MigrateRunRequest *request = make(&renga__v1__migrate_run_request__descriptor);
    request->run_id = some_run();
    request->graph_version = versions[below(VERSIONS)]->version;
    request->dry_run = below(4) == 0;
    send_off(request);
}

/* To "w", beside what the outcome leads to. */
static void send_two(struct script_call *call)
{
    static char w[] = "w", input[] = "{\"items\":[\"x\",\"y\"]}";
    Renga__V1__NodeSend send = RENGA__V1__NODE_SEND__INIT, *sends[] = {&send, &send};
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    send.node = w;
    send.input_json = input;
    response.sends = sends;
    response.n_sends = 2;
    script_respond(call, &response);
}

static void end_node(struct script_call *call, unsigned how)
{
    static const char *const keys[] = {"k"};
    loop_enter(stage.loop);
    if (how == 0)
        script_break(call, INTERNAL, "broken");
    else if (how == 1)
        script_ask(call, keys, 1);
    else if (how == 4 && !*call->path && strcmp(call->node, "z") != 0)
        send_two(call);
    else
        script_write(call, "", *call->path ? "{\"r\":\"v\"}" : how % 2 ? "{\"log\":[\"w\"],\"n\":1}" : "");
    loop_leave(stage.loop);
}

static void end_one(unsigned how)
{
    size_t left = below((unsigned)script_live);
    for (size_t i = 0; i < script_count; i++)
        if (script_calls[i].task && !left--) {
            end_node(&script_calls[i], how);
            break;
        }
    if (below(2))
        stage_settle(&stage, 0);
}

/* ---- what is in memory, and what the log gives ------------------------------------------------------------------- */

/* The run is paused before or after a node: then nothing begins, nor again what a crash has ended. */
static bool pauses;

/* What no record is about (branches that are only activated) is not told of; what failed in a run at work begins again
 * when that is taken up. */
static void tell_state(struct buffer *out, bool *busy)
{
    static char thread[] = "t";
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = thread;
    struct test_request *sent = ask_runner(&stage, &request);
    const Renga__V1__GetStateResponse *response = answer_of(sent);
    if (!response && last_status.code != NOT_FOUND)
        fail_msg("%s", last_status.text);
    if (response) {
        const Renga__V1__Checkpoint *checkpoint = response->checkpoint;
        *busy = response->run_state == RUNNING || response->run_state == QUEUED;
        buffer_printf(out, "%s\n%s %.8s, run %s %d\n", response->state_json, checkpoint->checkpoint_id,
                      checkpoint->graph_version, response->run_id, (int)response->run_state);
        if (checkpoint_count < ASKED_MAX && *checkpoint->checkpoint_id)
            snprintf(checkpoints[checkpoint_count++], 64, "%s", checkpoint->checkpoint_id);
    }
    for (size_t i = 0; response && i < response->n_due; i++) {
        const Renga__V1__DueNode *due = response->due[i];
        bool inner = strcmp(due->node, "w") == 0, again = *busy && due->state == NODE_FAILED;
        int node_state = (int)(again ? NODE_PENDING : due->state);
        if (!*due->path || node_state != NODE_PENDING)
            buffer_printf(out, "due %s/%s[%d] %d\n", due->path, due->node, due->branch, inner ? -1 : node_state);
    }
    for (size_t i = 0; response && i < response->n_interrupts; i++) {
        pauses |= response->interrupts[i]->kind != RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION;
        buffer_printf(out, "interrupt %s %s/%s\n", response->interrupts[i]->interrupt_id, response->interrupts[i]->path,
                      response->interrupts[i]->node);
    }
    ask_end(sent);
}

static char *tell(bool *busy)
{
    struct buffer out;
    buffer_init(&out, (size_t)1 << 20);
    *busy = pauses = false;
    tell_state(&out, busy);
    for (size_t i = run_count > RUNS_SEEN ? run_count - RUNS_SEEN : 0; i < run_count; i++) {
        const Renga__V1__Run *run = get(&stage, runs[i]);
        if (!run)
            fail_msg("%s: %s", runs[i], last_status.text);
        *busy |= run->state == RUNNING || run->state == QUEUED;
        buffer_printf(&out, "%s %d %d %s step %d, resumed %zu times: %s\n", runs[i], (int)run->state,
                      (int)run->stop_reason, run->checkpoint_id, (int)run->step, run->n_resumptions, run->output_json);
    }
    return buffer_take(&out, NULL);
}

/* As a crash leaves it. Nothing that was asked may be on its way: it would outlive the runner. */
static void crash(void)
{
    if (last_get)
        ask_end(last_get);
    last_get = NULL;
    stage_end(&stage);
    hear_all(true);
    stage_run(&stage);
    INSIDE(&stage, runner_recover(stage.runner));
}

static void compare(void)
{
    bool busy;
    for (int i = 0; i < 3; i++)
        stage_settle(&stage, 0);
    hear_all(false);
    char *in_memory = tell(&busy);
    if (!busy || (!asked_count && !pauses)) {
        crash();
        char *in_log = tell(&busy);
        if (strcmp(in_memory, in_log) != 0)
            print_error("in memory:\n%sin the log:\n%s", in_memory, in_log);
        assert_string_equal(in_memory, in_log);
        free(in_log);
    }
    free(in_memory);
}

/* In the midst of it: what has ended may not be in the log yet. */
static void crash_at_once(void)
{
    hear_all(false);
    for (int i = 0; i < 3 && asked_count; i++) {
        stage_settle(&stage, 0);
        hear_all(false);
    }
    if (!asked_count)
        crash();
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static void move(void)
{
    unsigned what = below(16);
    if (what < 3)
        start_one();
    else if (what == 3 && run_count)
        cancel_one();
    else if (what == 4 && run_count)
        resume_one();
    else if (what == 5)
        update_it();
    else if (what == 6 && run_count)
        migrate_one();
    else if (what == 7)
        compare();
    else if (what == 8)
        crash_at_once();
    else if (script_live)
        end_one(below(8));
}

static void come_to_rest(void)
{
    bool busy;
    stage_settle(&stage, 0);
    for (int i = 0; i < 500 && script_live; i++) {
        end_one(2);
        stage_settle(&stage, 0);
    }
    for (int i = 0; i < 5; i++)
        stage_settle(&stage, 1000);
    char *last = tell(&busy);
    if (busy)
        fail_msg("a run stands still: %s", last);
    free(last);
    hear_all(true);
    compare();
}

/* Of all calls with one idempotency key, each has a higher attempt than those before it, after every stop or crash
 * between them. */
static void check_attempts(void)
{
    for (size_t i = 1; i < script_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct script_call *before = &script_calls[j], *call = &script_calls[i];
            if (strcmp(before->key, call->key) == 0 && before->attempt >= call->attempt)
                fail_msg("call %zu of node '%s' (path '%s') is attempt %d, and call %zu was attempt %d", i, call->node,
                         call->path, call->attempt, j, before->attempt);
        }
}

static void play(uint64_t seed)
{
    chance = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    stage_snapshot_every = below(2) ? 0 : 1 + below(3);
    script_count = script_live = asked_count = run_count = checkpoint_count = 0;
    stage_open(&stage, "memory:");
    for (int i = 0; i < MOVES; i++)
        move();
    come_to_rest();
    check_attempts();
    if (last_get)
        ask_end(last_get);
    last_get = NULL;
    stage_close(&stage);
}

static uint64_t number_of(const char *name, uint64_t fallback)
{
    const char *given = getenv(name);
    return given ? strtoull(given, NULL, 10) : fallback;
}

static void what_is_in_memory_is_what_the_log_gives(void **state)
{
    uint64_t first = number_of("RENGA_SEED", 1), rounds = number_of("RENGA_ROUNDS", ROUNDS);
    stage_set(&stage, documents[0]);
    for (size_t i = 0; i < VERSIONS; i++) {
        struct status st = {0};
        write_version(documents[i]);
        versions[i] = agents_find(stage.house.agents, "a", "", &st);
        assert_non_null(versions[i]);
    }
    write_version(documents[0]);
    stage_close(&stage);
    for (uint64_t seed = first; seed < first + rounds; seed++) {
        if (rounds != ROUNDS)
            print_message("seed %llu\n", (unsigned long long)seed);
        play(seed);
    }
    stage_snapshot_every = 0;
    for (size_t i = 0; i < VERSIONS; i++)
        agent_release(stage.house.agents, versions[i]);
    house_close(&stage.house);
}

int main(void)
{
    clock_stop();
    log_configure("test", LOG_ERROR, LOG_FORMAT_AUTO); /* not of each recovery */
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_in_memory_is_what_the_log_gives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
