/* StartRun and ResumeRun: what they refuse, and what they set going. */
#include "errand.h"
#include "migrate.h"
#include "run_priv.h"

#include "base/json.h"

#include <assert.h>
#include <stdlib.h>

#define REQUEST_ROW_MAX 1024 /* bytes */
#define REPLACED        RENGA__V1__STOP_REASON__STOP_REASON_REPLACED

bool thread_busy(const struct thread *thread)
{
    return run_is_open(thread->run) || thread->queue;
}

/* ---- a request that may be a repetition -------------------------------------------------------------------------- */

struct request_scan {
    struct store_scan scan;
    struct errand *errand;
    struct thread *thread;
};

static uint64_t content_hash(const ProtobufCMessage *request)
{
    size_t size = protobuf_c_message_get_packed_size(request);
    uint8_t *bytes = need(malloc(size + 1));
    protobuf_c_message_pack(request, bytes);
    uint64_t hash = id_hash_text(id_hash(ID_HASH, bytes, size), request->descriptor->name);
    free(bytes);
    return hash;
}

static void errand_repeat_run(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row);

static void repeat(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row)
{
    if (row->content != content_hash(errand->request)) {
        struct status st = {0};
        fail_field(&st, "request_id", "was used for another request; take a new one");
        errand_fail(errand, &st, NULL);
        return;
    }
    errand->repeated = true;
    if (*row->run_id)
        errand_repeat_run(errand, thread, need(message_copy(errand->arena, &row->base)));
    else
        errand_repeat_thread(errand, thread, need(message_copy(errand->arena, &row->base)));
}

static void request_came(struct store_scan *scan)
{
    struct request_scan *request = (struct request_scan *)scan;
    struct errand *errand = request->errand;
    struct thread *thread = request->thread;
    struct status st = scan->status;
    struct arena arena;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Renga__V1__RequestRow *row = NULL;
    thread->holds--;
    thread->held = false;
    if (st.code == OK && scan->count)
        row = message_read(&arena, &renga__v1__request_row__descriptor, scan->rows[0].value, &st);
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    errand->checked = true;
    if (st.code != OK)
        errand_fail(errand, &st, NULL);
    else if (row)
        repeat(errand, thread, row);
    else
        errand_serve(errand, thread);
    arena_fini(&arena);
    store_scan_fini(scan);
    free(request);
    if (!thread->held)
        thread_unhold(thread);
    else
        loop_defer(thread->home->loop, &thread->go);
}

static void repeat_pending(struct errand *errand, struct thread *thread, struct store_bytes bytes)
{
    struct status st = {0};
    const Renga__V1__RequestRow *row = message_read(errand->arena, &renga__v1__request_row__descriptor, bytes, &st);
    errand->checked = true;
    if (row)
        repeat(errand, thread, row);
    else
        errand_fail(errand, &st, NULL);
}

bool errand_is_new(struct errand *errand, struct thread *thread, const char *request_id)
{
    struct key key;
    char last[sizeof key.bytes + 1];
    if (!*request_id || errand->checked)
        return true;
    if (log_pending_request(thread, request_id).bytes) { /* not on disk yet */
        repeat_pending(errand, thread, log_pending_request(thread, request_id));
        return false;
    }
    struct request_scan *request = need(calloc(1, sizeof *request));
    request->errand = errand;
    request->thread = thread;
    thread->held = true;
    thread->holds++;
    key_named(&key, KEY_REQUEST, errand->tenant, request_id);
    memcpy(last, key.bytes, key.size);
    last[key.size] = '\0';
    store_scan_init(&request->scan, thread->home->loop, request_came);
    request->scan.from = key_bytes(&key);
    request->scan.to = (struct store_bytes){last, key.size + 1};
    request->scan.limit = 1;
    request->scan.bytes_max = REQUEST_ROW_MAX;
    store_scan(thread->home->runner->options.store, &request->scan);
    return false;
}

void errand_remember(struct errand *errand, struct thread *thread, const char *request_id, const char *run_id,
                     uint64_t checkpoint)
{
    char id[ID_MAX] = "";
    Renga__V1__RequestRow row = RENGA__V1__REQUEST_ROW__INIT;
    if (!*request_id)
        return;
    if (checkpoint)
        id_make_checkpoint(id, thread->place, checkpoint);
    row.content = content_hash(errand->request);
    row.thread_id = thread->id;
    row.run_id = unconst(run_id);
    row.checkpoint_id = id;
    log_put_request(thread, request_id, &row);
}

/* ---- StartRun ---------------------------------------------------------------------------------------------------- */

static bool check_input(struct errand *errand, const Renga__V1__StartRunRequest *request, const struct agent *agent)
{
    struct status st = {0}, why = {0};
    if (!run_input_fits(agent->graph, request->input_json, &why))
        fail_field(&st, "input_json", "%s", why.text);
    const char *configuration = request->configuration_json;
    if (st.code == OK && *configuration &&
        (!json_check(configuration, strlen(configuration), NULL, &why) ||
         configuration[strspn(configuration, " \t\r\n")] != '{'))
        fail_field(&st, "configuration_json", "must be a JSON object");
    if (st.code == OK)
        return true;
    errand_fail(errand, &st, NULL);
    return false;
}

static bool check_thread(struct errand *errand, struct thread *thread, const struct agent *agent)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    const struct run *last = thread->run ? thread->run : thread->queue;
    const char *owner = thread->agent ? thread->agent->name : last ? last->request->agent : agent->name;
    uint64_t number;
    if (strcmp(owner, agent->name) != 0)
        return errand_refuse(errand, "OTHER_AGENT", FAILED_PRECONDITION,
                             "thread '%s' belongs to the agent '%s', not to '%s'; take another thread", thread->id,
                             owner, agent->name);
    if (*request->checkpoint_id &&
        (!id_checkpoint_number(request->checkpoint_id, thread->place, &number) || !number || number > thread->head))
        return errand_refuse(errand, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id,
                             request->checkpoint_id);
    bool rejects = request->on_busy <= RENGA__V1__ON_BUSY__ON_BUSY_REJECT;
    if (thread_busy(thread) && rejects)
        return errand_refuse(errand, "THREAD_BUSY", ABORTED,
                             "run %s is on thread '%s'; wait for it, or choose another on_busy",
                             run_is_open(thread->run) ? thread->run->id : thread->queue->id, thread->id);
    bool rolls_back = request->on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK && run_is_open(thread->run);
    return !(*request->checkpoint_id || rolls_back) || thread_may_go_back(thread, errand);
}

static void make_room(struct thread *thread, Renga__V1__OnBusy on_busy, const char *run_id)
{
    bool back = on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK;
    if (on_busy != RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT && !back)
        return;
    Renga__V1__StopReason reason = back ? RENGA__V1__STOP_REASON__STOP_REASON_ROLLED_BACK : REPLACED;
    while (thread->queue)
        run_change(thread->queue, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, REPLACED, CANCELLED,
                   "run %s took its place", run_id);
    struct run *run = thread->run;
    if (!run_is_open(run))
        return;
    run_halt(run);
    if (!run_is_open(run))
        return;
    run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, reason, CANCELLED, "run %s took its place", run_id);
}

static void take_trace(struct run *run, const struct errand *errand)
{
    run->asked = errand->trace ? *errand->trace : (struct trace_context){0};
}

/* Whether it goes to work with the very record that accepts it: nothing of another run or another checkpoint comes
 * between. */
static bool goes_at_once(const struct thread *thread, const Renga__V1__StartRunRequest *request)
{
    const struct run *before = thread->run;
    bool alone = !before || (before->state > RENGA__V1__RUN_STATE__RUN_STATE_WAITING && !before->shown_count);
    return alone && !thread_busy(thread) && !thread_rolls_back(thread) && !*request->checkpoint_id;
}

static void start(struct errand *errand, struct thread *thread, struct agent *agent)
{
    char id[ID_MAX];
    Renga__V1__StartRunRequest request = *(const Renga__V1__StartRunRequest *)errand->request;
    Renga__V1__RunBegun begun = RENGA__V1__RUN_BEGUN__INIT;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    int64_t now_ms = wall_ms();
    id_make_run(id, now_ms, thread->place);
    thread->held = true; /* the next one begins when its record is there */
    make_room(thread, request.on_busy, id);
    thread->held = false;
    request.thread_id = unconst("");
    begun.run_id = id;
    begun.graph_version = agent->version;
    begun.request = &request;
    begun.queued = thread_busy(thread);
    record.begun = &begun;
    bool at_once = goes_at_once(thread, &request);
    struct run *run = fold_begun(thread, &begun, thread->runs_begun + 1, thread->last + 1, now_ms);
    run->agent = agent;
    run->unlogged = at_once;
    take_trace(run, errand);
    if (!at_once)
        log_append(thread, run, &record);
    log_write_name(run);
    errand_remember(errand, thread, run->request->request_id, run->id, 0);
    if (begun.queued)
        log_write_rows(run);
    errand->run_id = need(arena_strdup(errand->arena, id));
    errand_wait(errand, run, true); /* one that cannot begin is gone then, and it hears why */
    run_next(thread);
    assert(!thread->queue || !thread->queue->unlogged);
    run = request.wait ? NULL : errand_wait_no_more(errand);
    if (run)
        errand_wait(errand, run, false);
}

void errand_start(struct errand *errand, struct thread *thread)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    if (!errand_is_new(errand, thread, request->request_id))
        return;
    struct agents *agents = thread->home->runner->options.agents;
    struct agent *agent = errand_agent(errand, thread, request->agent, request->graph_version);
    if (!agent)
        return;
    if (check_input(errand, request, agent) && check_thread(errand, thread, agent))
        start(errand, thread, agent);
    else
        agent_release(agents, agent);
}

/* ---- ResumeRun --------------------------------------------------------------------------------------------------- */

struct open_question {
    const char *id;
    size_t count;
};

static void note_question(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                          const struct due *due, struct question *question, Renga__V1__InterruptKind kind)
{
    struct open_question *open = visit->data;
    if (!question)
        return;
    open->id = question->id;
    open->count++;
}

static bool check_answer(struct errand *errand, struct thread *thread, const Renga__V1__InterruptAnswer *answer)
{
    struct status st = {0}, why = {0};
    struct question *question = question_find(thread, answer->interrupt_id);
    if (!question)
        return errand_refuse(errand, NULL, NOT_FOUND, "the run asks no question '%.64s'", answer->interrupt_id);
    if (question->answer)
        return errand_refuse(errand, "ALREADY_ANSWERED", FAILED_PRECONDITION, "the question '%s' has its answer",
                             question->id);
    const char *schema = question->asked->answer_schema_json;
    if (!json_check(answer->answer_json, strlen(answer->answer_json), NULL, &why))
        fail_field(&st, "answer_json", "is not JSON: %s", why.text);
    else if (*schema && !question_schema_fits(schema, answer->answer_json, &why))
        fail_field(&st, "answer_json", "%s", why.text);
    if (st.code == OK)
        return true;
    errand_fail(errand, &st, NULL);
    return false;
}

static bool check_answers(struct errand *errand, struct thread *thread, Renga__V1__ResumeRunRequest *request,
                          Renga__V1__InterruptAnswer *bare, Renga__V1__InterruptAnswer **list)
{
    struct open_question open = {0};
    struct interrupt_visit visit = {.came = note_question, .data = &open};
    question_each(thread->root, &visit);
    bool has_bare = request->maybe_answer_json_case == RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    if (has_bare && request->n_answers)
        return errand_refuse(errand, NULL, INVALID_ARGUMENT, "answer_json: not together with answers");
    if (has_bare && open.count > 1)
        return errand_refuse(errand, "AMBIGUOUS_ANSWER", FAILED_PRECONDITION,
                             "%zu questions are open; answer them by interrupt_id", open.count);
    if ((has_bare || request->n_answers) && !open.count)
        return errand_refuse(errand, "NO_QUESTION", FAILED_PRECONDITION, "no question is open");
    if (has_bare) {
        renga__v1__interrupt_answer__init(bare);
        bare->interrupt_id = unconst(open.id);
        bare->answer_json = request->answer_json;
        list[0] = bare;
        request->answers = list;
        request->n_answers = 1;
    }
    for (size_t i = 0; i < request->n_answers; i++)
        if (!check_answer(errand, thread, request->answers[i]))
            return false;
    return true;
}

static bool may_resume(struct errand *errand, struct thread *thread, const struct run *run,
                       const Renga__V1__ResumeRunRequest *request)
{
    uint64_t expected;
    bool budget = run && run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED &&
                  run->reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED;
    bool stopped = run && (run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING ||
                           run->state == RENGA__V1__RUN_STATE__RUN_STATE_FAILED ||
                           run->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED || budget);
    if (!stopped || run != thread->run || !thread->root || !run->started_ms)
        return errand_refuse(errand, "NOT_RESUMABLE", FAILED_PRECONDITION, "%s",
                             !run || run != thread->run ? "the thread has gone on without the run"
                             : run_is_open(run)         ? "the run is at work"
                                                        : "the run is done");
    if (thread_busy(thread))
        return errand_refuse(errand, "THREAD_BUSY", ABORTED, "run %s is on thread '%s'", thread->queue->id, thread->id);
    if (!run->agent)
        return errand_refuse(errand, "NOT_RESUMABLE", FAILED_PRECONDITION, "the version %s of its agent is not there",
                             run->begun->graph_version);
    if (*request->expected_checkpoint_id &&
        (!id_checkpoint_number(request->expected_checkpoint_id, thread->place, &expected) || expected != thread->head))
        return errand_refuse(errand, "STALE", ABORTED, "'%.64s' is not the thread's head any more",
                             request->expected_checkpoint_id);
    return true;
}

void errand_resume(struct errand *errand, struct thread *thread)
{
    Renga__V1__InterruptAnswer bare, *list[1];
    Renga__V1__ResumeRunRequest request = *(const Renga__V1__ResumeRunRequest *)errand->request;
    if (!errand_is_new(errand, thread, request.request_id))
        return;
    if (!thread->exists) {
        errand_refuse(errand, NULL, NOT_FOUND, "there is no thread '%s'", thread->id);
        return;
    }
    struct run *run = *request.run_id ? errand_run(errand, thread, request.run_id) : thread->run;
    if (!may_resume(errand, thread, run, &request) || !check_answers(errand, thread, &request, &bare, list))
        return;
    errand_remember(errand, thread, request.request_id, run->id, 0);
    take_trace(run, errand);
    run_resume(run, false, &request);
    errand_wait(errand, run, request.wait);
}

/* ---- again ------------------------------------------------------------------------------------------------------- */

/* The run of a repeated request, as it stands now. */
static void errand_repeat_run(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row)
{
    errand->run_id = row->run_id;
    struct run *run = errand_run(errand, thread, row->run_id);
    bool wait = false;
    if (errand->request->descriptor == &renga__v1__start_run_request__descriptor)
        wait = ((const Renga__V1__StartRunRequest *)errand->request)->wait;
    else
        wait = ((const Renga__V1__ResumeRunRequest *)errand->request)->wait;
    if (run)
        errand_wait(errand, run, wait);
    else
        errand_read_run(errand, thread->home);
}
