#include "form_verdict.h"
#include "form_queue.h"

#include "rpc/message_json.h"

#include <string.h>

#define UNCONST(text) ((char *)(uintptr_t)(text))

struct verdict_work {
    struct form_fill *fill;
    size_t field;
    const cJSON *item;
    cJSON *entry;
    Renga__V1__ReviewResult *verdict;
    struct form_value value; /* that is to be kept */
    const char *words;       /* that its span is of */
};

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static bool fact_has_key(const char *fact, const char *key)
{
    size_t length = strlen(key);
    return strncmp(fact, key, length) == 0 && fact[length] == ':';
}

static const char *known_fact(const cJSON *entry, const char *key)
{
    const cJSON *known;
    cJSON_ArrayForEach(known, cJSON_GetObjectItemCaseSensitive(entry, "known_facts"))
    {
        if (cJSON_IsString(known) && fact_has_key(known->valuestring, key))
            return known->valuestring;
    }
    return NULL;
}

/* Keeps an extracted fact only if the person's answer contains it; facts that were known before stay. */
static void keep_facts(struct verdict_work *work, const Renga__V1__FactDefinition *const *facts, size_t count)
{
    const char *said = form_fill_text(work->item, "said");
    for (size_t i = 0; i < work->verdict->n_extracted_facts; i++) {
        const char *fact = work->verdict->extracted_facts[i];
        for (size_t j = 0; j < count; j++) {
            if (!fact_has_key(fact, facts[j]->fact_key))
                continue;
            const char *what = fact + strlen(facts[j]->fact_key) + 1;
            if (form_text_contains(what + strspn(what, " "), said))
                queue_keep_fact(work->fill, work->field, fact);
            break;
        }
    }
}

static bool form_names_have(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Lists the facts that the reviewer misses, and the facts that are not known. */
static bool list_missing(struct verdict_work *work, const Renga__V1__FactDefinition *const *facts, size_t count)
{
    Renga__V1__ReviewResult *verdict = work->verdict;
    char **missing = arena_alloc(work->fill->arena, (count + 1) * sizeof *missing);
    size_t found = 0;
    for (size_t i = 0; missing && i < count; i++)
        if (!known_fact(work->entry, facts[i]->fact_key) ||
            form_names_have(verdict->missing_facts, verdict->n_missing_facts, facts[i]->fact_key))
            missing[found++] = facts[i]->fact_key;
    verdict->missing_facts = missing;
    verdict->n_missing_facts = missing ? found : 0;
    return missing != NULL;
}

static bool list_extracted(struct verdict_work *work)
{
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(work->entry, "known_facts"), *item;
    Renga__V1__ReviewResult *verdict = work->verdict;
    verdict->extracted_facts =
        arena_alloc(work->fill->arena, ((size_t)cJSON_GetArraySize(known) + 1) * sizeof *verdict->extracted_facts);
    verdict->n_extracted_facts = 0;
    cJSON_ArrayForEach(item, known)
    {
        char *copy = cJSON_IsString(item) ? arena_strdup(work->fill->arena, item->valuestring) : NULL;
        if (!verdict->extracted_facts || !copy)
            return false;
        verdict->extracted_facts[verdict->n_extracted_facts++] = copy;
    }
    return verdict->extracted_facts != NULL;
}

/* ---- the value --------------------------------------------------------------------------------------------------- */

/* The answer to a fact that was asked for becomes a further line of the field's text. */
static bool join_lines(struct verdict_work *work, const char *before)
{
    struct form_fill *fill = work->fill;
    struct form_value joined;
    char *both = arena_printf(fill->arena, "%s\n%s", before, form_fill_text(work->item, "said"));
    if (!both || !form_read_value(fill->form, work->field, both, &fill->context, fill->arena, &joined))
        return false;
    if (joined.problem == FORM_FINE) {
        work->value = joined;
        work->words = both;
    }
    return true;
}

/* The reviewer's value if it is proved; else the value that code has read. */
static bool find_value(struct verdict_work *work)
{
    struct form_fill *fill = work->fill;
    const char *said = work->words = form_fill_text(work->item, "said");
    const char *before = form_fill_text(cJSON_GetObjectItemCaseSensitive(work->entry, "value"), "quote");
    bool follows = *form_fill_text(work->entry, "asked_fact") && *before &&
                   form_field(fill->form, work->field)->type == RENGA__V1__FIELD_TYPE__FIELD_TYPE_TEXT;
    struct form_value proved = {.problem = FORM_NO_VALUE};
    if (work->verdict->maybe_field_value_case && *work->verdict->field_value &&
        !form_verify_value(fill->form, work->field, work->verdict->field_value, said, &fill->context, fill->arena,
                           &proved))
        return false;
    work->value = proved;
    if (proved.problem != FORM_FINE &&
        !form_read_value(fill->form, work->field, said, &fill->context, fill->arena, &work->value))
        return false;
    return !follows || join_lines(work, before);
}

static bool form_verdict_put_value(struct verdict_work *work)
{
    struct form_fill *fill = work->fill;
    cJSON *value = cJSON_CreateObject();
    const cJSON *message = cJSON_GetObjectItemCaseSensitive(work->item, "message");
    char *quote = arena_strndup(fill->arena, work->words + work->value.begin, work->value.end - work->value.begin);
    if (!value || !quote) {
        cJSON_Delete(value);
        return false;
    }
    form_fill_put(value, "text", work->value.text);
    form_fill_put(value, "quote", quote);
    form_fill_put_number(value, "message", message ? message->valuedouble : -1);
    form_fill_put(value, "origin", form_fill_text(work->item, "origin"));
    form_fill_put_item(work->entry, "value", value);
    form_fill_put_item(work->entry, "typed", cJSON_Duplicate(work->value.json, true));
    return true;
}

/* ---- the judgement ----------------------------------------------------------------------------------------------- */

static void judging_write_review(struct verdict_work *work)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, UPDATE_BYTES_MAX);
    json_writer_init(&out, &text);
    message_write_json(&out, NULL, &work->verdict->base);
    form_fill_put_item(work->entry, "review", text.failed ? NULL : cJSON_Parse(buffer_text(&text)));
    buffer_fini(&text);
}

static void ask_again(struct verdict_work *work)
{
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(work->entry, "follow_up_count");
    form_fill_put_number(work->entry, "follow_up_count", count ? count->valuedouble + 1 : 1);
    form_fill_set_state(work->fill, work->field, RENGA__V1__FIELD_STATE__FIELD_STATE_INTERVIEWING);
}

void form_refuse(struct form_fill *fill, size_t field, const char *why)
{
    Renga__V1__ReviewResult verdict = RENGA__V1__REVIEW_RESULT__INIT;
    struct verdict_work work = {
        .fill = fill, .field = field, .entry = form_fill_entry(fill, field), .verdict = &verdict};
    verdict.feedback = UNCONST(why);
    judging_write_review(&work);
    ask_again(&work);
}

/* If the value has a problem, the feedback states it in words. */
static void judging_explain(struct verdict_work *work)
{
    struct form_fill *fill = work->fill;
    const char *why = work->value.problem == FORM_FINE
                          ? NULL
                          : form_problem_message(fill->form, work->field, &work->value, &fill->context, fill->arena);
    if (why)
        work->verdict->feedback = UNCONST(why);
}

bool form_apply_verdict(struct form_fill *fill, size_t field, const cJSON *item, Renga__V1__ReviewResult *verdict,
                        const char **understood)
{
    const Renga__V1__FactDefinition *const *facts;
    size_t count = form_facts(fill->form, field, &facts);
    struct verdict_work work = {
        .fill = fill, .field = field, .item = item, .entry = form_fill_entry(fill, field), .verdict = verdict};
    keep_facts(&work, facts, count);
    if (!list_missing(&work, facts, count) || !list_extracted(&work) || !find_value(&work))
        return false;
    bool good = work.value.problem == FORM_FINE;
    verdict->passed = verdict->passed && good && !verdict->n_missing_facts;
    verdict->maybe_field_value_case = good ? RENGA__V1__REVIEW_RESULT__MAYBE_FIELD_VALUE_FIELD_VALUE : 0;
    verdict->field_value = good ? UNCONST(work.value.text) : NULL;
    judging_explain(&work);
    judging_write_review(&work);
    form_fill_put(work.entry, "asked_fact", NULL);
    /* A text grows by the answers about its facts; any other value waits until it has passed. */
    if (good && (verdict->passed || verdict->n_missing_facts) && !form_verdict_put_value(&work))
        return false;
    if (!verdict->passed) {
        ask_again(&work);
        return true;
    }
    form_fill_set_state(fill, field, RENGA__V1__FIELD_STATE__FIELD_STATE_DONE);
    const char *label = form_field(fill->form, field)->label;
    const char *value = form_value_text(fill->form, field, work.value.text, &fill->context, fill->arena);
    *understood = value ? arena_printf(fill->arena, "%s: %s", label, value) : NULL;
    return *understood != NULL;
}
