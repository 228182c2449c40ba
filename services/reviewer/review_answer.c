/* ReviewAnswer: does a person's answer fill a field of a form? A field passes only if all its facts are known, even if
 * a model accepts it. Facts from a model that the field does not define are ignored. */
#include "findings.h"
#include "reviewer_priv.h"

#include "base/field_check.h"
#include "base/hash.h"
#include "base/text.h"
#include "model_task/check.h"
#include "model_task/texts.h"

#include <string.h>

#define ID_MAX      ((size_t)128) /* bytes */
#define LABEL_MAX   ((size_t)512)
#define TEXT_MAX    ((size_t)4096)
#define FACT_MAX    ((size_t)2048)
#define FACTS_MAX   1000
#define FACT_SLOTS  2048 /* a power of 2, more than FACTS_MAX */
#define TALK_MAX    ((size_t)65536)
#define VALUE_MAX   ((size_t)16384)
#define SHOWN_MAX   ((size_t)400)       /* bytes of one text of a fact that a model is shown, */
#define ALL_SHOWN   ((size_t)256 << 10) /* and of all of them */
#define SPEAKER_MAX 24                  /* bytes of "回答者: " before the answer */

#define MENTIONED 0.5 /* share of a fact's words that an answer has to have, without a model */

/* The facts of a request by their keys: an index + 1, 0 for a free slot. */
struct fact_table {
    uint16_t slots[FACT_SLOTS];
};

struct reviewing {
    struct model_task task; /* first */
    const Renga__V1__ReviewAnswerRequest *request;
    Renga__V1__ReviewAnswerResponse_Closure reply;
    Renga__V1__ReviewAnswerResponse response;
    Renga__V1__ReviewResult result;
    struct fact_table facts;
    char **known; /* the known value of each fact; NULL: unknown */
};

/* ---- facts by key ------------------------------------------------------------------------------------------------ */

/* The slot of the fact with this key, or a free one. */
static uint16_t *fact_slot(struct fact_table *table, const Renga__V1__ReviewAnswerRequest *request, const char *key,
                           size_t length)
{
    for (size_t at = hash_bytes(key, length);; at++) {
        uint16_t *slot = &table->slots[at % FACT_SLOTS];
        const char *other = *slot ? request->facts[*slot - 1]->fact_key : NULL;
        if (!other || (strncmp(other, key, length) == 0 && other[length] == '\0'))
            return slot;
    }
}

/* The number of facts if no fact has this key. */
static size_t fact_of_key(struct fact_table *table, const Renga__V1__ReviewAnswerRequest *request, const char *key,
                          size_t length)
{
    uint16_t *slot = fact_slot(table, request, key, length);
    return *slot ? (size_t)*slot - 1 : request->n_facts;
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool review_answer_check_field(const Renga__V1__FormField *field, struct status *st)
{
    if (!field)
        return fail_field(st, "field", "is missing; give the field that the answer is for");
    return text_is_given(st, "field.id", field->id, ID_MAX) &&
           text_is_given(st, "field.field_id", field->field_id, ID_MAX) &&
           text_is_given(st, "field.label", field->label, LABEL_MAX) &&
           text_fits(st, "field.intent", field->intent, TEXT_MAX) &&
           text_fits(st, "field.criteria", field->criteria, TEXT_MAX) &&
           text_fits(st, "field.done_condition", field->done_condition, TEXT_MAX);
}

static bool review_answer_check_fact(const Renga__V1__ReviewAnswerRequest *request, size_t i, struct fact_table *table,
                                     struct status *st)
{
    const Renga__V1__FactDefinition *fact = request->facts[i];
    if (strcmp(fact->form_field_id, request->field->id) != 0)
        return fail_field(st, path_of("facts", i, "form_field_id"), "is '%.64s', but the field's id is '%.64s'",
                          fact->form_field_id, request->field->id);
    uint16_t *slot = fact_slot(table, request, fact->fact_key, strlen(fact->fact_key));
    if (*slot)
        return fail_field(st, path_of("facts", i, "fact_key"), "is that of facts[%d] too", *slot - 1);
    *slot = (uint16_t)(i + 1);
    return text_is_given(st, path_of("facts", i, "fact_key"), fact->fact_key, ID_MAX) &&
           text_is_given(st, path_of("facts", i, "fact"), fact->fact, FACT_MAX) &&
           text_fits(st, path_of("facts", i, "done_criteria"), fact->done_criteria, TEXT_MAX) &&
           text_fits(st, path_of("facts", i, "questioning_hints"), fact->questioning_hints, TEXT_MAX);
}

static bool review_answer_check(const Renga__V1__ReviewAnswerRequest *request, struct fact_table *table,
                                struct status *st)
{
    if (!review_answer_check_field(request->field, st) || !count_fits(st, "facts", request->n_facts, FACTS_MAX) ||
        !count_fits(st, "known_facts", request->n_known_facts, FACTS_MAX))
        return false;
    for (size_t i = 0; i < request->n_facts; i++)
        if (!review_answer_check_fact(request, i, table, st))
            return false;
    for (size_t i = 0; i < request->n_known_facts; i++)
        if (!text_fits(st, path_of("known_facts", i, ""), request->known_facts[i], TEXT_MAX))
            return false;
    return text_is_given(st, "conversation_summary", request->conversation_summary, TALK_MAX) &&
           check_model_request(&request->base, request->prompting, st);
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* The fact of a line "fact_key: statement", and in *what the statement. Returns the number of facts if there is no
 * match. A key may contain colons. */
static size_t fact_of(struct reviewing *reviewing, const char *text, const char **what)
{
    const Renga__V1__ReviewAnswerRequest *request = reviewing->request;
    size_t first = request->n_facts;
    for (const char *colon = text; (colon = strchr(colon, ':')) && colon - text <= (ptrdiff_t)ID_MAX; colon++) {
        size_t fact = fact_of_key(&reviewing->facts, request, text, (size_t)(colon - text));
        if (fact < first) {
            first = fact;
            *what = colon + 1 + strspn(colon + 1, " ");
        }
    }
    return first;
}

static void remember_known(struct reviewing *reviewing)
{
    const Renga__V1__ReviewAnswerRequest *request = reviewing->request;
    const char *what = NULL;
    for (size_t i = 0; reviewing->known && i < request->n_known_facts; i++) {
        size_t fact = fact_of(reviewing, request->known_facts[i], &what);
        if (fact < request->n_facts && !text_is_blank(what))
            reviewing->known[fact] = UNCONST(what);
    }
}

static void list_facts(struct reviewing *reviewing)
{
    struct model_task *task = &reviewing->task;
    const Renga__V1__ReviewAnswerRequest *request = reviewing->request;
    Renga__V1__ReviewResult *result = &reviewing->result;
    result->extracted_facts = model_task_alloc(task, (request->n_facts + 1) * sizeof(*result->extracted_facts));
    result->missing_facts = model_task_alloc(task, (request->n_facts + 1) * sizeof(*result->missing_facts));
    if (!result->extracted_facts || !result->missing_facts)
        return;
    for (size_t i = 0; i < request->n_facts; i++) {
        char *key = request->facts[i]->fact_key;
        if (!reviewing->known[i]) {
            result->missing_facts[result->n_missing_facts++] = key;
            continue;
        }
        char *text = model_task_printf(task, "%s: %s", key, reviewing->known[i]);
        text[text_cut(text, strlen(text), TEXT_MAX)] = '\0';
        result->extracted_facts[result->n_extracted_facts++] = text;
    }
}

/* The first missing fact, in words and not as a key, since a person reads it. */
static const char *first_missing(const struct reviewing *reviewing)
{
    size_t i = 0;
    while (reviewing->known[i])
        i++;
    return reviewing->request->facts[i]->fact;
}

/* `passed` is the judgement apart from the facts: the field passes if also all facts are known. */
static void review_answer_judge(struct reviewing *reviewing, bool passed, char *feedback)
{
    static const struct note missing = {.ja = "次の点がまだ分かりません: %s", .en = "Still to be asked: %s"};
    static const struct note wanting = {.ja = "回答がまだ基準を満たしていません。",
                                        .en = "The answer does not meet the criteria yet."};
    Renga__V1__ReviewResult *result = &reviewing->result;
    list_facts(reviewing);
    bool empty =
        reviewing->request->field->required && !(result->maybe_field_value_case && !text_is_blank(result->field_value));
    result->passed = passed && !result->n_missing_facts && !empty;
    result->feedback = feedback;
    if (result->passed || *feedback)
        return;
    result->feedback = result->n_missing_facts
                           ? model_task_compose(&reviewing->task, &missing, first_missing(reviewing), NULL)
                           : UNCONST(model_task_note_text(&reviewing->task, &wanting));
}

/* ---- with a model ------------------------------------------------------------------------------------------------ */

static void add_cut(struct model_task *task, cJSON *object, const char *name, const char *text)
{
    size_t share = ALL_SHOWN / 2 / ((struct reviewing *)task)->request->n_facts;
    if (*text)
        cJSON_AddStringToObject(object, name, model_task_text(task, text, share < SHOWN_MAX ? share : SHOWN_MAX));
}

static void review_answer_describe(struct model_task *task, cJSON *values)
{
    const Renga__V1__ReviewAnswerRequest *request = ((struct reviewing *)task)->request;
    const Renga__V1__FormField *field = request->field;
    cJSON *shown = cJSON_AddObjectToObject(values, "field");
    cJSON_AddStringToObject(shown, "label", field->label);
    cJSON_AddStringToObject(shown, "intent", field->intent);
    cJSON_AddBoolToObject(shown, "required", field->required);
    cJSON_AddStringToObject(shown, "criteria", field->criteria);
    cJSON_AddStringToObject(shown, "done_condition", field->done_condition);
    cJSON *facts = cJSON_AddArrayToObject(values, "facts");
    for (size_t i = 0; i < request->n_facts; i++) {
        cJSON *fact = cJSON_CreateObject();
        cJSON_AddStringToObject(fact, "fact_key", request->facts[i]->fact_key);
        add_cut(task, fact, "fact", request->facts[i]->fact);
        add_cut(task, fact, "done_criteria", request->facts[i]->done_criteria);
        cJSON_AddItemToArray(facts, fact);
    }
    texts_describe(task, values, "known_facts", request->known_facts, request->n_known_facts);
    cJSON_AddStringToObject(values, "conversation_summary", request->conversation_summary);
}

static size_t fact_named(struct reviewing *reviewing, const cJSON *name)
{
    const char *key = cJSON_GetStringValue(name);
    return key ? fact_of_key(&reviewing->facts, reviewing->request, key, strlen(key)) : reviewing->request->n_facts;
}

static void take_value(struct reviewing *reviewing, char *value)
{
    reviewing->result.maybe_field_value_case = RENGA__V1__REVIEW_RESULT__MAYBE_FIELD_VALUE_FIELD_VALUE;
    reviewing->result.field_value = value;
}

static bool review_answer_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    (void)st; /* an answer that fits the schema is accepted */
    struct reviewing *reviewing = (struct reviewing *)task;
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(answer, "field_value");
    const cJSON *feedback = cJSON_GetObjectItemCaseSensitive(answer, "feedback");
    if (!reviewing->known)
        return true; /* out of memory, which fails the call */
    const Renga__V1__ReviewAnswerRequest *request = reviewing->request;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(answer, "extracted_facts"))
    {
        size_t fact = fact_named(reviewing, cJSON_GetObjectItemCaseSensitive(item, "fact_key"));
        char *what = text_read(&reviewing->task, cJSON_GetObjectItemCaseSensitive(item, "value"), TEXT_MAX);
        if (fact < request->n_facts && *what)
            reviewing->known[fact] = what;
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(answer, "missing_facts"))
    {
        size_t fact = fact_named(reviewing, item);
        if (fact < request->n_facts) /* mentioned, but its done_criteria are not met */
            reviewing->known[fact] = NULL;
    }
    if (cJSON_IsString(value))
        take_value(reviewing, text_read(task, value, VALUE_MAX));
    review_answer_judge(reviewing, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "passed")),
                        text_read(task, feedback, ADVICE_MAX));
    return true;
}

/* ---- without a model --------------------------------------------------------------------------------------------- */

/* The person's last answer: the last line that is not blank, without its speaker. */
static char *review_answer_last_said(struct model_task *task, const char *talk)
{
    const char *begin = talk, *end = talk + strlen(talk);
    for (const char *line = talk; *line;) {
        size_t length = strcspn(line, "\n");
        if (strspn(line, " \t\r") < length) {
            begin = line;
            end = line + length;
        }
        line += length + (line[length] != '\0');
    }
    size_t speaker = strcspn(begin, ":\n");
    const char *wide = strstr(begin, "：");
    if (wide && wide < end && wide - begin <= SPEAKER_MAX)
        begin = wide + strlen("：");
    else if (begin[speaker] == ':' && speaker <= SPEAKER_MAX && begin[speaker + 1] == ' ')
        begin += speaker + 1;
    begin += strspn(begin, " \t");
    char *said = arena_strndup(rpc_call_arena(task->call), begin, text_cut(begin, (size_t)(end - begin), VALUE_MAX));
    return said ? said : model_task_text(task, "", 0);
}

/* Known facts stay known. A fact is mentioned if the last answer has its words; its value is that answer. */
static void review_answer_fallback(struct model_task *task)
{
    struct reviewing *reviewing = (struct reviewing *)task;
    char *said = review_answer_last_said(task, reviewing->request->conversation_summary);
    if (!reviewing->known)
        return;
    const Renga__V1__ReviewAnswerRequest *request = reviewing->request;
    struct arena arena;
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct evidence *evidence = text_weigh(&arena, said);
    for (size_t i = 0; evidence && i < request->n_facts; i++) {
        const char *fact = request->facts[i]->fact;
        struct coverage coverage;
        if (reviewing->known[i])
            continue;
        evidence_cover(evidence, evidence, fact, strlen(fact), &coverage);
        if (coverage.share >= MENTIONED)
            reviewing->known[i] = said;
    }
    arena_fini(&arena);
    take_value(reviewing, said);
    review_answer_judge(reviewing, !text_is_blank(said), model_task_text(task, "", 0));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void review_answer_run(struct model_task *task)
{
    struct reviewing *reviewing = (struct reviewing *)task;
    Renga__V1__ReviewAnswerResponse *response = &reviewing->response;
    response->review = &reviewing->result;
    response->usage = &task->usage;
    response->model = UNCONST(task->model);
    response->degradations = task->degradations;
    response->n_degradations = task->degradation_count;
    reviewing->reply(response, task->call);
}

static const struct model_task_kind review_answer_kind = {
    .name = "answer",
    .part = "review",
    .schema =
        "{\"type\":\"object\",\"properties\":{\"passed\":{\"type\":\"boolean\"},\"feedback\":{\"type\":\"string\"},"
        "\"missing_facts\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"extracted_facts\":{\"type\":"
        "\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"fact_key\":{\"type\":\"string\"},\"value\":{"
        "\"type\":\"string\"}},\"required\":[\"fact_key\",\"value\"],\"additionalProperties\":false}},"
        "\"field_value\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"passed\",\"feedback\",\"missing_facts\","
        "\"extracted_facts\",\"field_value\"],\"additionalProperties\":false}",
    .fallback_note = {.ja = "最後の発言に出てくる語だけで判定しました",
                      .en = "the answer was judged by the words of what was said last"},
    .describe = review_answer_describe,
    .read = review_answer_read,
    .fallback = review_answer_fallback,
    .reply = review_answer_run,
};

void review_answer_begin(struct reviewer *reviewer, struct rpc_call *call,
                         const Renga__V1__ReviewAnswerRequest *request, Renga__V1__ReviewAnswerResponse_Closure reply)
{
    struct status st = {0};
    struct fact_table facts = {0};
    if (!review_answer_check(request, &facts, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct reviewing *reviewing = model_task_create(call, sizeof *reviewing);
    if (!reviewing)
        return;
    reviewing->request = request;
    reviewing->facts = facts;
    reviewing->reply = reply;
    renga__v1__review_answer_response__init(&reviewing->response);
    renga__v1__review_result__init(&reviewing->result);
    model_task_init(&reviewing->task, &review_answer_kind, &reviewer->client, call, request->prompting, request->origin,
                    request->conversation_summary);
    reviewing->known = model_task_alloc(&reviewing->task, (request->n_facts + 1) * sizeof(*reviewing->known));
    remember_known(reviewing);
    model_task_start(&reviewing->task);
}
