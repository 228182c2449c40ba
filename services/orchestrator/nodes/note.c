/* Keeps findings as notes, with the tool-runner and beside the thread: ListNotes gives them, and they go when the
 * thread is deleted. A note of a list is numbered by its place there, so a list that grows by appending is kept again
 * without duplicates. A single note has the number of a field, so that branches of a sub-graph keep theirs side by
 * side. */
#include "service_call.h"

#include "graph/agents.h"
#include "rpc/message_json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define NOTES_MAX   500 /* of a list: each is a call */
#define SOURCES_MAX 64  /* as Note.sources */

enum { NOTE_OF, NOTE_QUERY, NOTE_SUMMARY, NOTE_SOURCES, NOTE_NUMBER, NOTE_INTO };

static const struct node_parameter parameters[] = {
    [NOTE_OF] = {"of", READS_OBJECTS, OPTIONAL,
                 "The notes, an object[] (Note: query, summary_md, sources): the first is number 1 of the run, and one "
                 "that is kept already under its number is replaced."},
    [NOTE_QUERY] = {"query", READS_STRING, OPTIONAL, "In place of \"of\", for one note: the query, a string."},
    [NOTE_SUMMARY] = {"summary", READS_STRING, OPTIONAL, "... what it found, a string in Markdown."},
    [NOTE_SOURCES] = {"sources", READS_OBJECTS, OPTIONAL,
                      "... what that rests on, an object[] (NoteSource), each address once."},
    [NOTE_NUMBER] = {"number", READS_INTEGER, OPTIONAL,
                     "... its number in the run, an integer from 1. Notes of a sub-graph need different ones."},
    [NOTE_INTO] = {"into", WRITES_OBJECT, OPTIONAL, "... an object that gets the note (Note)."},
    {.name = NULL},
};
static const char *const outcomes[] = {"noted", NULL};

static bool note_check(const struct node *node, struct status *st)
{
    bool single = node_argument(node, NOTE_QUERY)->field && node_argument(node, NOTE_SUMMARY)->field &&
                  node_argument(node, NOTE_NUMBER)->field;
    if (!node_argument(node, NOTE_OF)->field)
        return single ||
               fail_field(st, "of", "is not there; give it, or \"query\", \"summary\" and \"number\" of one note");
    for (size_t row = NOTE_QUERY; row <= NOTE_INTO; row++)
        if (node_argument(node, row)->field)
            return fail_field(st, parameters[row].name, "is for one note, and \"of\" is a list; take one of them out");
    if (node->graph != node->graph->agent->graph)
        return fail(st, INVALID_ARGUMENT,
                    "is in a sub-graph, where branches would replace each other's notes; give one note a \"number\", "
                    "or let it follow the node that leads there");
    return true;
}

struct noting {
    struct service_call base; /* first */
    Renga__V1__SaveNoteRequest request;
    Renga__V1__Note **notes;
    size_t count, next;
    Renga__V1__Note single, *singles[1];
};

static bool note_read_list(struct noting *noting, struct status *st)
{
    if (!service_call_messages(&noting->base, NOTE_OF, &renga__v1__note__descriptor, &noting->notes, &noting->count,
                               st))
        return false;
    if (noting->count > NOTES_MAX)
        return fail(st, INVALID_ARGUMENT, "'%s' has %zu notes; at most %d of a run are kept",
                    node_argument(task_node(noting->base.task), NOTE_OF)->field->name, noting->count, NOTES_MAX);
    for (size_t i = 0; i < noting->count; i++)
        noting->notes[i]->step_no = (int32_t)i + 1;
    return true;
}

/* A document that was found in several places is a single source. */
static bool note_read_sources(struct noting *noting, struct status *st)
{
    Renga__V1__NoteSource **sources;
    size_t count, kept = 0;
    if (!service_call_messages(&noting->base, NOTE_SOURCES, &renga__v1__note_source__descriptor, &sources, &count, st))
        return false;
    for (size_t i = 0; i < count && kept < SOURCES_MAX; i++) {
        bool known = false;
        for (size_t j = 0; j < kept && !known; j++)
            known = strcmp(sources[j]->uri, sources[i]->uri) == 0;
        if (!known)
            sources[kept++] = sources[i];
    }
    noting->single.sources = sources;
    noting->single.n_sources = kept;
    return true;
}

static bool read_single(struct noting *noting, struct status *st)
{
    const cJSON *number = service_call_input(&noting->base, NOTE_NUMBER);
    renga__v1__note__init(&noting->single);
    noting->single.query = service_call_text(&noting->base, NOTE_QUERY);
    noting->single.summary_md = service_call_text(&noting->base, NOTE_SUMMARY);
    noting->single.step_no = cJSON_IsNumber(number) ? (int32_t)number->valuedouble : 0;
    noting->singles[0] = &noting->single;
    noting->notes = noting->singles;
    noting->count = 1;
    return note_read_sources(noting, st);
}

static bool read_notes(struct noting *noting, struct status *st)
{
    const Renga__V1__RunNodeRequest *told = task_request(noting->base.task);
    bool list = node_argument(task_node(noting->base.task), NOTE_OF)->field;
    renga__v1__save_note_request__init(&noting->request);
    noting->request.thread_id = told->position->thread_id;
    noting->request.fencing_token = told->fencing_token;
    if (!(list ? note_read_list(noting, st) : read_single(noting, st)))
        return false;
    for (size_t i = 0; i < noting->count; i++)
        noting->notes[i]->run_id = told->position->run_id;
    return true;
}

static void note_finish(struct noting *noting)
{
    struct update update;
    const char *into = update_field(noting->base.task, NOTE_INTO);
    update_begin(&update);
    if (into)
        message_write_json(&update.out, into, &noting->single.base);
    update_finish(&update, noting->base.task, outcomes[0]);
}

static void save_next(struct noting *noting);

static void saved(const Renga__V1__SaveNoteResponse *answer, void *data)
{
    struct noting *noting = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer || noting->base.cancelled)
        service_call_failed(&noting->base);
    else if (noting->next == noting->count)
        note_finish(noting);
    else if (service_call_again(&noting->base, PEER_TOOL_RUNNER, &st))
        save_next(noting);
    else
        task_fail(noting->base.task, &st);
}

static void save_next(struct noting *noting)
{
    noting->request.note = noting->notes[noting->next++];
    renga__v1__tool_runner__save_note(noting->base.peer, &noting->request, saved, &noting->base.call);
}

static void note_start(struct task *task)
{
    struct noting *noting = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&noting->base, task, PEER_TOOL_RUNNER, &st) && read_notes(noting, &st);
    service_call_close(&noting->base);
    if (!good)
        task_fail(task, &st);
    else if (!noting->count)
        note_finish(noting);
    else
        save_next(noting);
}

extern const struct node_kind note_kind;
const struct node_kind note_kind = {
    .name = "note",
    .help = "Keeps what was found out, beside the thread.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = note_check,
    .size = sizeof(struct noting),
    .start = note_start,
    .cancel = service_call_cancel,
    .travels = true,
};
