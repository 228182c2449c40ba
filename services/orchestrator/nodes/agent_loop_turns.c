#include "agent_loop.h"

#include "json/json.h"

#include <string.h>

#define MOST_TURNS     10 /* if the document does not say */
#define MOST_TURNS_MAX 100
#define NEW_TURNS      (2 * ROUND_CALLS_MAX + 3) /* of a visit: two rounds of results, question, answer, reminder */
#define STUCK_TURNS    3                         /* in a row, of which no call could be taken */

static bool loop_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the conversation takes more memory than an attempt may have");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool loop_fill_prompt(struct agent_loop *talk, size_t row, char **text, struct status *st)
{
    const char *name = node_argument(task_node(talk->base.task), row)->text;
    *text = name ? prompt_fill(talk->base.task, name, talk->base.inputs, talk->base.language, st) : NULL;
    talk->unfit = name && !*text && st->code == RESOURCE_EXHAUSTED;
    return *text || !name;
}

static bool turn_has_role(const Renga__V1__ChatMessage *turn, Renga__V1__ChatRole role)
{
    return turn && turn->role == role;
}

static const Renga__V1__ChatMessage *turns_last(const struct turns *turns)
{
    return turns->count ? turns->list[turns->count - 1] : NULL;
}

static bool begin_question(struct agent_loop *talk, struct status *st)
{
    char *text;
    const Renga__V1__ChatMessage *last = turns_last(talk->turns.count ? &talk->turns : &talk->history);
    if (!loop_fill_prompt(talk, LOOP_PROMPT, &text, st))
        return false;
    if (text)
        return turns_add(&talk->turns, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER, text, st);
    return turn_has_role(last, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER) || talk->caller ||
           fail(st, INVALID_ARGUMENT, "the conversation does not end with a turn of the user, and there is no prompt");
}

/* A reminder does not count as a turn of the user. */
static bool is_reminder(const Renga__V1__ChatMessage *turn)
{
    return turn_has_role(turn, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER) && strcmp(turn->name, LOOP_REMINDER) == 0;
}

static int64_t count_turns(const struct agent_loop *talk)
{
    int64_t had = 0;
    for (size_t i = talk->turns.count; i > 0; i--) {
        const Renga__V1__ChatMessage *turn = talk->turns.list[i - 1];
        if (turn_has_role(turn, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER) && !is_reminder(turn))
            break;
        had += turn_has_role(turn, RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT);
    }
    return had;
}

static int64_t loop_most_turns(const struct agent_loop *talk)
{
    const cJSON *of = service_call_input(&talk->base, LOOP_MOST_OF);
    int64_t most = node_argument(task_node(talk->base.task), LOOP_MOST)->number;
    if (of && of->valuedouble >= 1)
        most = of->valuedouble < MOST_TURNS_MAX ? (int64_t)of->valuedouble : MOST_TURNS_MAX;
    return most ? most : MOST_TURNS;
}

/* The last turn that calls tools, if only results stand behind it. */
static const Renga__V1__ChatMessage *find_caller(const struct turns *turns)
{
    size_t at = turns->count;
    while (at && turn_has_role(turns->list[at - 1], RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL))
        at--;
    return at && turns->list[at - 1]->n_tool_calls ? turns->list[at - 1] : NULL;
}

static bool has_result(const struct agent_loop *talk, const Renga__V1__ToolCall *call)
{
    for (size_t i = talk->old_turns; i > 0 && talk->turns.list[i - 1] != talk->caller; i--)
        if (strcmp(talk->turns.list[i - 1]->tool_call_id, call->id) == 0)
            return true;
    return false;
}

/* Whether the model's last turn ended the previous visit: then this visit is for another question. */
static bool loop_has_ended(const struct agent_loop *talk)
{
    for (size_t i = talk->old_turns; i > 0 && talk->turns.list[i - 1] != talk->caller; i--)
        if (!talk->turns.list[i - 1]->tool_failed && strcmp(talk->turns.list[i - 1]->name, LOOP_ENDED) == 0)
            return true;
    return false;
}

static bool read_turns(struct agent_loop *talk, struct status *st)
{
    struct arena *arena = task_arena(talk->base.task);
    const cJSON *turns = service_call_input(&talk->base, LOOP_TURNS);
    const cJSON *history = service_call_input(&talk->base, LOOP_HISTORY);
    int count = cJSON_GetArraySize(turns), before = cJSON_GetArraySize(history);
    if (count + before > TURNS_MAX - NEW_TURNS)
        return fail(st, INVALID_ARGUMENT, "the conversation has %d turns; at most %d are gone on with", count + before,
                    TURNS_MAX - NEW_TURNS);
    return turns_init(&talk->turns, arena, (size_t)count + NEW_TURNS, st) &&
           turns_read(&talk->turns, turns, false, st) && turns_init(&talk->history, arena, (size_t)before + 1, st) &&
           turns_read(&talk->history, history, true, st);
}

bool loop_read(struct agent_loop *talk, struct status *st)
{
    struct task *task = talk->base.task;
    talk->plan = task_node(task)->prepared;
    talk->calls_end = &talk->calls;
    if (!prompt_values(talk->base.inputs, task_node(task), LOOP_PICK, talk->base.language, st) ||
        !read_turns(talk, st) || !loop_fill_prompt(talk, LOOP_SYSTEM, &talk->rules, st) ||
        !own_tools_define(talk->plan->tools, task, talk->base.inputs, talk->base.language, talk->own, st))
        return false;
    talk->old_turns = talk->turns.count;
    talk->caller = find_caller(&talk->turns);
    bool goes_on = (talk->caller && !loop_has_ended(talk)) || is_reminder(turns_last(&talk->turns));
    bool good = goes_on || begin_question(talk, st);
    talk->had = count_turns(talk);
    talk->last = !talk->plan->has_limit && talk->had + 1 >= loop_most_turns(talk);
    talk->over = talk->plan->has_limit && talk->had >= loop_most_turns(talk);
    return good;
}

/* ---- a model without progress ------------------------------------------------------------------------------------ */

static bool turn_is_refused(const Renga__V1__ChatMessage *turn)
{
    static const char *const codes[] = {"INVALID_ARGUMENT: ", "NOT_FOUND: ", "FAILED_PRECONDITION: "};
    for (size_t i = 0; turn->tool_failed && i < sizeof codes / sizeof *codes; i++)
        if (strncmp(turn->content, codes[i], strlen(codes[i])) == 0)
            return true;
    return false;
}

bool loop_is_stuck(const struct agent_loop *talk)
{
    unsigned rounds = 0;
    bool refused = false;
    for (size_t i = talk->turns.count; i > 0 && rounds < STUCK_TURNS; i--) {
        const Renga__V1__ChatMessage *turn = talk->turns.list[i - 1];
        if (turn_has_role(turn, RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL) && turn_is_refused(turn)) {
            refused = true;
        } else if (turn->n_tool_calls && refused) {
            refused = false;
            rounds++;
        } else {
            break;
        }
    }
    return rounds == STUCK_TURNS;
}

/* ---- calls of its last turn -------------------------------------------------------------------------------------- */

bool loop_is_question(const struct agent_loop *talk, const Renga__V1__ToolCall *call)
{
    return node_argument(task_node(talk->base.task), LOOP_ASK)->text && tool_ask_is(call);
}

static const struct own_tool *own_of(const struct agent_loop *talk, const Renga__V1__ToolCall *call)
{
    return own_tool_find(talk->plan->tools, call->name);
}

/* The field's value as text for the model. NULL: the field has no value. */
static bool loop_read_result(struct agent_loop *talk, const struct own_tool *tool, const char **text, struct status *st)
{
    const struct field *field = own_tool_result(tool);
    const cJSON *value = field ? cJSON_GetObjectItemCaseSensitive(talk->base.inputs, field->name) : NULL;
    struct buffer json;
    struct json_writer out;
    *text = NULL;
    if (!value || cJSON_IsNull(value))
        return true;
    buffer_init(&json, UPDATE_BYTES_MAX);
    json_writer_init(&out, &json);
    json_write_tree(&out, NULL, value);
    const char *whole = cJSON_IsString(value) ? value->valuestring : buffer_text(&json);
    *text = json.failed ? NULL : arena_strdup(task_arena(talk->base.task), whole);
    buffer_fini(&json);
    return *text || loop_no_memory(st);
}

bool loop_sort_calls(struct agent_loop *talk, struct status *st)
{
    struct task *task = talk->base.task;
    Renga__V1__ChatMessage *ignored;
    size_t count = talk->caller ? talk->caller->n_tool_calls : 0;
    if (count > ROUND_CALLS_MAX)
        return fail(st, INVALID_ARGUMENT, "a turn calls more than %d tools", ROUND_CALLS_MAX);
    if (!round_open(&talk->round, &talk->base, LOOP_ROUND, count, st))
        return false;
    for (size_t i = 0; i < count; i++) {
        Renga__V1__ToolCall *call = talk->caller->tool_calls[i];
        bool good = true;
        const struct own_tool *own = own_of(talk, call);
        if (has_result(talk, call))
            continue;
        if (own)
            good = loop_read_result(talk, own, &talk->results[i], st);
        else if (loop_is_question(talk, call))
            good = tool_ask(&talk->asks, call, i, task_request(task), task_arena(task), &ignored, st);
        else
            good = round_add(&talk->round, call, st);
        if (!good)
            return false;
    }
    return true;
}

/* The text as JSON, for "calls": a result of tools that speak JSON stays as it is. */
static const char *as_json(struct arena *arena, const char *text)
{
    struct buffer out;
    size_t length = strlen(text);
    if (length && json_check(text, length, NULL, &(struct status){0}))
        return text;
    buffer_init(&out, UPDATE_BYTES_MAX);
    json_append_string(&out, text, length);
    char *copy = arena_strdup(arena, buffer_text(&out));
    buffer_fini(&out);
    return copy ? copy : "";
}

static bool loop_note_call(struct agent_loop *talk, const Renga__V1__ToolCall *call, const char *result,
                           const char *error, struct status *st)
{
    struct arena *arena = task_arena(talk->base.task);
    struct loop_call *note = arena_alloc(arena, sizeof *note);
    if (!note)
        return loop_no_memory(st);
    *note = (struct loop_call){call->name, call->arguments_json, error || !result ? "" : as_json(arena, result),
                               error ? error : "", NULL};
    *talk->calls_end = note;
    talk->calls_end = &note->next;
    return true;
}

bool loop_add_result(struct agent_loop *talk, const Renga__V1__ToolCall *call, const char *result, const char *error,
                     struct status *st)
{
    Renga__V1__ChatMessage *turn = arena_alloc(task_arena(talk->base.task), sizeof *turn);
    if (!turn)
        return loop_no_memory(st);
    renga__v1__chat_message__init(turn);
    turn->role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    turn->tool_call_id = call->id;
    turn->content = UNCONST(error ? error : result);
    turn->tool_failed = error != NULL;
    return turns_put(&talk->turns, turn, st) && loop_note_call(talk, call, result, error, st);
}

static bool answer_other(struct agent_loop *talk, const Renga__V1__ToolCall *call, Renga__V1__ChatMessage *turn,
                         struct status *st)
{
    return turn && turns_put(&talk->turns, turn, st) &&
           loop_note_call(talk, call, turn->content, turn->tool_failed ? turn->content : NULL, st);
}

bool loop_answer_calls(struct agent_loop *talk, struct status *st)
{
    struct task *task = talk->base.task;
    struct tool_asks asks = {0};
    for (size_t i = 0, ran = 0; talk->caller && i < talk->caller->n_tool_calls; i++) {
        Renga__V1__ToolCall *call = talk->caller->tool_calls[i];
        const struct own_tool *own = own_of(talk, call);
        Renga__V1__ChatMessage *turn = NULL;
        bool good = true;
        if (has_result(talk, call))
            continue;
        if (own)
            good = loop_add_result(talk, call, talk->results[i],
                                   talk->results[i] ? NULL : "UNAVAILABLE: the call came to no result", st);
        else if (!loop_is_question(talk, call))
            good = answer_other(talk, call, round_turn(&talk->round, ran++, st), st);
        else
            good = tool_ask(&asks, call, i, task_request(task), task_arena(task), &turn, st) &&
                   answer_other(talk, call, turn, st);
        if (!good)
            return false;
    }
    return true;
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

/* A reminder is marked in the state alone. */
static Renga__V1__ChatMessage *as_sent(struct arena *arena, Renga__V1__ChatMessage *turn)
{
    bool marked = is_reminder(turn) || (turn_has_role(turn, RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL) && *turn->name);
    Renga__V1__ChatMessage *plain = marked ? arena_copy(arena, turn, sizeof *turn) : turn;
    if (marked && plain)
        plain->name = UNCONST("");
    return plain;
}

bool loop_write_request(struct agent_loop *talk, struct status *st)
{
    struct turns all;
    struct task *task = talk->base.task;
    const char *model = talk->base.model ? talk->base.model : node_argument(task_node(task), LOOP_MODEL)->text;
    renga__v1__chat_request__init(&talk->request);
    if (!turns_init(&all, task_arena(task), talk->history.count + talk->turns.count + 1, st) ||
        (talk->rules && !turns_add(&all, RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM, talk->rules, st)))
        return false;
    for (size_t i = 0; i < talk->history.count; i++)
        all.list[all.count++] = talk->history.list[i];
    for (size_t i = 0; i < talk->turns.count; i++)
        if (!(all.list[all.count++] = as_sent(task_arena(task), talk->turns.list[i])))
            return loop_no_memory(st);
    talk->request.messages = all.list;
    talk->request.n_messages = all.count;
    talk->request.model = UNCONST(model ? model : "default");
    talk->request.max_output_tokens = (int32_t)node_argument(task_node(task), LOOP_TOKENS)->number;
    talk->request.idempotency_key = task_request(task)->idempotency_key;
    talk->request.origin = &talk->base.origin;
    talk->request.max_model_calls = task_request(task)->model_requests;
    return true;
}
