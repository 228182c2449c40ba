/* All questions, some of them at a time. Each has a call and a deadline of its own.
 *
 *      free --- a question is left ---> asking --- answered, failed ---> scored --- in this process ---> forgetting
 *        ^                                |                                |                                 |
 *        |                                '--- Ctrl-C: cancelled           '------------ else -------------->|
 *        '---------------------------------------------------------------------------------------------------'
 * Calls run in the loop; the command's thread scores. Runs in this process are deleted, as they are in memory. */
#include "eval.h"

#include "ask.h"
#include "outcome.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MEMORY ((size_t)64 << 20)
#define FORGET_MS     5000
#define GIVE_UP       10 /* failures of the suite in a row: no answer, the key is refused, the collection is not there */

enum eval_phase { EVAL_FREE, EVAL_ASKING, EVAL_FORGETTING };

struct eval_slot {
    struct work work; /* first */
    struct work cancel;
    struct eval_pump *pump;
    struct eval_slot *next; /* of those that have ended */
    enum eval_phase phase;
    struct rpc_client_call call;
    Renga__V1__AskRequest request;
    Renga__V1__AgentOptions how;
    Renga__V1__DeleteThreadRequest forget;
    char *collections[1];
    struct arena memory; /* of the answer */
    const Renga__V1__AgentResult *result;
    int64_t began_ns, ended_ns;
    struct eval_row *row;
};

struct eval_pump {
    struct eval *eval;
    struct eval_slot *slots;
    size_t slot_count, busy, next; /* next: question */
    size_t lost;                   /* failures in a row */
    pthread_mutex_t lock;
    struct eval_slot *ended; /* under the lock */
    sem_t woken;
};

/* ---- in the loop ------------------------------------------------------------------------------------------------- */

static void eval_slot_ended(struct eval_slot *slot)
{
    struct eval_pump *pump = slot->pump;
    slot->ended_ns = clock_now_ns();
    pthread_mutex_lock(&pump->lock);
    slot->next = pump->ended;
    pump->ended = slot;
    pthread_mutex_unlock(&pump->lock);
    sem_post(&pump->woken);
}

static void eval_answer_received(const Renga__V1__AskResponse *response, void *data)
{
    struct eval_slot *slot = ((struct rpc_client_call *)data)->owner;
    if (response && response->result)
        slot->result = rpc_message_copy(&slot->memory, &response->result->base);
    eval_slot_ended(slot);
}

static void eval_ask(struct work *work)
{
    struct eval_slot *slot = (struct eval_slot *)work;
    slot->began_ns = clock_now_ns();
    renga__v1__helpdesk__ask(slot->pump->eval->helpdesk, &slot->request, eval_answer_received, &slot->call);
}

static void eval_thread_deleted(const Renga__V1__DeleteThreadResponse *response, void *data)
{
    (void)response; /* it is not missed */
    eval_slot_ended(((struct rpc_client_call *)data)->owner);
}

static void eval_forget(struct work *work)
{
    struct eval_slot *slot = (struct eval_slot *)work;
    renga__v1__orchestrator__delete_thread(slot->pump->eval->client.orchestrator, &slot->forget, eval_thread_deleted,
                                           &slot->call);
}

static void eval_cancel(struct work *work)
{
    rpc_client_call_cancel(&CONTAINER_OF(work, struct eval_slot, cancel)->call);
}

/* ---- in the command's thread ------------------------------------------------------------------------------------- */

static void eval_post(struct eval_slot *slot, enum eval_phase phase, void (*run)(struct work *work), int64_t timeout_ms)
{
    struct loop *loop = process_loop(slot->pump->eval->client.process);
    rpc_client_call_init(&slot->call, loop, NULL);
    slot->call.owner = slot;
    slot->call.timeout_ms = timeout_ms;
    slot->phase = phase;
    slot->work.run = run;
    loop_post(loop, &slot->work);
}

static void eval_begin_question(struct eval_pump *pump, struct eval_slot *slot)
{
    struct eval *eval = pump->eval;
    const struct config *config = eval->client.config;
    slot->row = &eval->rows.list[pump->next++];
    slot->result = NULL;
    renga__v1__ask_request__init(&slot->request);
    renga__v1__agent_options__init(&slot->how);
    slot->how.model = command_text(config_string(config, "model"));
    slot->how.language = command_text(config_string(config, "language"));
    slot->request.options = &slot->how;
    slot->request.question = command_text(slot->row->question->text);
    slot->collections[0] = command_text(eval->collection);
    slot->request.collections = slot->collections;
    slot->request.n_collections = eval->collection != NULL;
    pump->busy++;
    eval_post(slot, EVAL_ASKING, eval_ask, config_duration_ms(config, "timeout"));
}

static bool eval_is_lost(enum status_code code)
{
    return code == UNAVAILABLE || code == UNAUTHENTICATED || code == PERMISSION_DENIED || code == UNIMPLEMENTED ||
           code == NOT_FOUND;
}

static void eval_take_failure(struct eval_pump *pump, struct eval_slot *slot, enum status_code code, const char *text)
{
    struct eval *eval = pump->eval;
    eval_score_error(&slot->row->score, slot->row->question);
    slot->row->error = arena_printf(&eval->memory, "%s: %s", status_code_name((int)code), text);
    eval->failed++;
    pump->lost = eval_is_lost(code) ? pump->lost + 1 : 0;
    eval->given_up |= pump->lost >= GIVE_UP;
    if (eval->failed == 1 && !eval->verbose) {
        eval_view_progress(eval, NULL);
        fprintf(stderr, EVAL ": the first failure, at line %zu: %s\n", slot->row->question->line, slot->row->error);
    }
}

/* A question that Ctrl-C has cancelled was not asked. */
static void eval_take_answer(struct eval_pump *pump, struct eval_slot *slot)
{
    struct eval *eval = pump->eval;
    const struct status *status = &slot->call.status;
    struct eval_row *row = slot->row;
    if (eval->interrupted && status->code == CANCELLED)
        return;
    row->asked = true;
    row->score.latency_us = (slot->ended_ns - slot->began_ns) / 1000;
    if (status->code != OK) {
        eval_take_failure(pump, slot, status->code, status->text);
    } else if (!slot->result) {
        eval_take_failure(pump, slot, RESOURCE_EXHAUSTED, "no memory for the answer");
    } else {
        pump->lost = 0;
        eval_score_result(&row->score, row->question, slot->result, &eval->quotes);
        row->score.no_model = outcome_has_no_model(slot->result->outcome);
        eval_row_keep(row, slot->result, &eval->memory);
    }
    eval->asked++;
    eval->right += row->score.why == EVAL_RIGHT;
    eval_view_progress(eval, row);
}

static void eval_free_slot(struct eval_pump *pump, struct eval_slot *slot)
{
    arena_reset(&slot->memory);
    slot->phase = EVAL_FREE;
    pump->busy--;
}

static void eval_end_question(struct eval_pump *pump, struct eval_slot *slot)
{
    struct eval *eval = pump->eval;
    eval_take_answer(pump, slot);
    if (!slot->result || !slot->result->outcome || !eval->client.orchestrator) {
        eval_free_slot(pump, slot);
        return;
    }
    renga__v1__delete_thread_request__init(&slot->forget);
    slot->forget.thread_id = slot->result->outcome->thread_id;
    eval_post(slot, EVAL_FORGETTING, eval_forget, FORGET_MS);
}

static void eval_take_ended(struct eval_pump *pump)
{
    pthread_mutex_lock(&pump->lock);
    struct eval_slot *slot = pump->ended;
    pump->ended = NULL;
    pthread_mutex_unlock(&pump->lock);
    for (struct eval_slot *next; slot; slot = next) {
        next = slot->next;
        if (slot->phase == EVAL_ASKING)
            eval_end_question(pump, slot);
        else
            eval_free_slot(pump, slot);
    }
}

static void eval_fill_slots(struct eval_pump *pump)
{
    const struct eval *eval = pump->eval;
    for (size_t i = 0; i < pump->slot_count && !eval->interrupted && !eval->given_up; i++)
        if (pump->slots[i].phase == EVAL_FREE && pump->next < eval->questions.count)
            eval_begin_question(pump, &pump->slots[i]);
}

static void eval_notice_interrupt(struct eval_pump *pump)
{
    if (!command_interrupted() || pump->eval->interrupted)
        return;
    pump->eval->interrupted = true;
    for (size_t i = 0; i < pump->slot_count; i++) {
        pump->slots[i].cancel.run = eval_cancel;
        if (pump->slots[i].phase == EVAL_ASKING)
            loop_post(process_loop(pump->eval->client.process), &pump->slots[i].cancel);
    }
}

/* The cancel of a slot may run after the end of its call: the loop is empty when it has run this. */
static void eval_loop_emptied(struct work *work)
{
    sem_post(&((struct eval_slot *)work)->pump->woken);
}

static void eval_pump_run(struct eval_pump *pump)
{
    command_interrupt_begin(&pump->woken);
    for (;;) {
        eval_fill_slots(pump);
        if (!pump->busy)
            break;
        while (sem_wait(&pump->woken) != 0 && errno == EINTR)
            ;
        eval_notice_interrupt(pump);
        eval_take_ended(pump);
    }
    command_interrupt_end();
    while (sem_trywait(&pump->woken) == 0)
        ;
    pump->slots[0].work.run = eval_loop_emptied;
    loop_post(process_loop(pump->eval->client.process), &pump->slots[0].work);
    while (sem_wait(&pump->woken) != 0 && errno == EINTR)
        ;
}

static void eval_ask_all(struct eval *eval)
{
    size_t slots = (size_t)config_integer(eval->client.config, "concurrency");
    struct eval_pump pump = {.eval = eval, .slot_count = slots, .slots = calloc(slots, sizeof *pump.slots)};
    if (!pump.slots)
        abort();
    pthread_mutex_init(&pump.lock, NULL);
    sem_init(&pump.woken, 0, 0);
    for (size_t i = 0; i < slots; i++) {
        pump.slots[i].pump = &pump;
        arena_init(&pump.slots[i].memory, NULL, 0, ANSWER_MEMORY);
    }
    eval_pump_run(&pump);
    for (size_t i = 0; i < slots; i++)
        arena_fini(&pump.slots[i].memory);
    sem_destroy(&pump.woken);
    pthread_mutex_destroy(&pump.lock);
    free(pump.slots);
}

static int eval_exit_code(const struct eval *eval)
{
    if (eval->interrupted)
        return COMMAND_INTERRUPTED;
    return eval->given_up || eval->failed == eval->asked ? COMMAND_FAILED : COMMAND_OK;
}

int eval_run(struct eval *eval)
{
    eval->rows.count = eval->questions.count;
    eval->rows.list = arena_zalloc(&eval->memory, (eval->rows.count + 1) * sizeof *eval->rows.list);
    if (!eval->rows.list)
        abort();
    for (size_t i = 0; i < eval->rows.count; i++)
        eval->rows.list[i] =
            (struct eval_row){.question = &eval->questions.list[i], .answer = "", .run = "", .error = ""};
    eval->began_ns = clock_now_ns();
    eval_ask_all(eval);
    eval->results = eval_measure(&eval->rows, &eval->memory, &eval->result_count);
    if (eval->against.path)
        eval_against_compare(&eval->against, &eval->rows, &eval->memory);
    eval_view_end(eval);
    bool written = eval_write_reports(eval);
    int code = eval_exit_code(eval);
    return code == COMMAND_OK && !written ? (int)COMMAND_FAILED : code;
}
