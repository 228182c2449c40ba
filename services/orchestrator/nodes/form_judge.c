#include "form_judge.h"
#include "form_queue.h"

#include "rpc/message_json.h"

#include <string.h>

#define UNCONST(text) ((char *)(uintptr_t)(text))

struct judging {
    struct desk *desk;
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
static void keep_facts(struct judging *judging, const Renga__V1__FactDefinition *const *facts, size_t count)
{
    const char *said = desk_text(judging->item, "said");
    for (size_t i = 0; i < judging->verdict->n_extracted_facts; i++) {
        const char *fact = judging->verdict->extracted_facts[i];
        for (size_t j = 0; j < count; j++) {
            if (!fact_has_key(fact, facts[j]->fact_key))
                continue;
            const char *what = fact + strlen(facts[j]->fact_key) + 1;
            if (form_said(what + strspn(what, " "), said))
                queue_keep_fact(judging->desk, judging->field, fact);
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
static bool list_missing(struct judging *judging, const Renga__V1__FactDefinition *const *facts, size_t count)
{
    Renga__V1__ReviewResult *verdict = judging->verdict;
    char **missing = arena_alloc(judging->desk->arena, (count + 1) * sizeof *missing);
    size_t found = 0;
    for (size_t i = 0; missing && i < count; i++)
        if (!known_fact(judging->entry, facts[i]->fact_key) ||
            form_names_have(verdict->missing_facts, verdict->n_missing_facts, facts[i]->fact_key))
            missing[found++] = facts[i]->fact_key;
    verdict->missing_facts = missing;
    verdict->n_missing_facts = missing ? found : 0;
    return missing != NULL;
}

static bool list_extracted(struct judging *judging)
{
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(judging->entry, "known_facts"), *item;
    Renga__V1__ReviewResult *verdict = judging->verdict;
    verdict->extracted_facts =
        arena_alloc(judging->desk->arena, ((size_t)cJSON_GetArraySize(known) + 1) * sizeof *verdict->extracted_facts);
    verdict->n_extracted_facts = 0;
    cJSON_ArrayForEach(item, known)
    {
        char *copy = cJSON_IsString(item) ? arena_strdup(judging->desk->arena, item->valuestring) : NULL;
        if (!verdict->extracted_facts || !copy)
            return false;
        verdict->extracted_facts[verdict->n_extracted_facts++] = copy;
    }
    return verdict->extracted_facts != NULL;
}

/* ---- the value --------------------------------------------------------------------------------------------------- */

/* The answer to a fact that was asked for becomes a further line of the field's text. */
static bool join_lines(struct judging *judging, const char *before)
{
    struct desk *desk = judging->desk;
    struct form_value joined;
    char *both = arena_printf(desk->arena, "%s\n%s", before, desk_text(judging->item, "said"));
    if (!both || !form_read_value(desk->form, judging->field, both, &desk->context, desk->arena, &joined))
        return false;
    if (joined.problem == FORM_FINE) {
        judging->value = joined;
        judging->words = both;
    }
    return true;
}

/* The reviewer's value if it is proved; else the value that code has read. */
static bool find_value(struct judging *judging)
{
    struct desk *desk = judging->desk;
    const char *said = judging->words = desk_text(judging->item, "said");
    const char *before = desk_text(cJSON_GetObjectItemCaseSensitive(judging->entry, "value"), "quote");
    bool follows = *desk_text(judging->entry, "asked_fact") && *before &&
                   form_field(desk->form, judging->field)->type == RENGA__V1__FIELD_TYPE__FIELD_TYPE_TEXT;
    struct form_value proved = {.problem = FORM_NO_VALUE};
    if (judging->verdict->maybe_field_value_case && *judging->verdict->field_value &&
        !form_prove_value(desk->form, judging->field, judging->verdict->field_value, said, &desk->context, desk->arena,
                          &proved))
        return false;
    judging->value = proved;
    if (proved.problem != FORM_FINE &&
        !form_read_value(desk->form, judging->field, said, &desk->context, desk->arena, &judging->value))
        return false;
    return !follows || join_lines(judging, before);
}

static bool put_value(struct judging *judging)
{
    struct desk *desk = judging->desk;
    cJSON *value = cJSON_CreateObject();
    const cJSON *message = cJSON_GetObjectItemCaseSensitive(judging->item, "message");
    char *quote =
        arena_strndup(desk->arena, judging->words + judging->value.begin, judging->value.end - judging->value.begin);
    if (!value || !quote) {
        cJSON_Delete(value);
        return false;
    }
    desk_put(value, "text", judging->value.text);
    desk_put(value, "quote", quote);
    desk_put_number(value, "message", message ? message->valuedouble : -1);
    desk_put(value, "origin", desk_text(judging->item, "origin"));
    desk_put_item(judging->entry, "value", value);
    desk_put_item(judging->entry, "typed", cJSON_Duplicate(judging->value.json, true));
    return true;
}

/* ---- the judgement ----------------------------------------------------------------------------------------------- */

static void judging_write_review(struct judging *judging)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, UPDATE_BYTES_MAX);
    json_writer_init(&out, &text);
    message_write_json(&out, NULL, &judging->verdict->base);
    desk_put_item(judging->entry, "review", text.failed ? NULL : cJSON_Parse(buffer_text(&text)));
    buffer_fini(&text);
}

static void ask_again(struct judging *judging)
{
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(judging->entry, "follow_up_count");
    desk_put_number(judging->entry, "follow_up_count", count ? count->valuedouble + 1 : 1);
    desk_set_state(judging->desk, judging->field, RENGA__V1__FIELD_STATE__FIELD_STATE_INTERVIEWING);
}

void form_refuse(struct desk *desk, size_t field, const char *why)
{
    Renga__V1__ReviewResult verdict = RENGA__V1__REVIEW_RESULT__INIT;
    struct judging judging = {.desk = desk, .field = field, .entry = desk_entry(desk, field), .verdict = &verdict};
    verdict.feedback = UNCONST(why);
    judging_write_review(&judging);
    ask_again(&judging);
}

/* If the value has a problem, the feedback states it in words. */
static void judging_explain(struct judging *judging)
{
    struct desk *desk = judging->desk;
    const char *why = judging->value.problem == FORM_FINE
                          ? NULL
                          : form_problem_say(desk->form, judging->field, &judging->value, &desk->context, desk->arena);
    if (why)
        judging->verdict->feedback = UNCONST(why);
}

bool form_judge(struct desk *desk, size_t field, const cJSON *item, Renga__V1__ReviewResult *verdict,
                const char **understood)
{
    const Renga__V1__FactDefinition *const *facts;
    size_t count = form_facts(desk->form, field, &facts);
    struct judging judging = {
        .desk = desk, .field = field, .item = item, .entry = desk_entry(desk, field), .verdict = verdict};
    keep_facts(&judging, facts, count);
    if (!list_missing(&judging, facts, count) || !list_extracted(&judging) || !find_value(&judging))
        return false;
    bool good = judging.value.problem == FORM_FINE;
    verdict->passed = verdict->passed && good && !verdict->n_missing_facts;
    verdict->maybe_field_value_case = good ? RENGA__V1__REVIEW_RESULT__MAYBE_FIELD_VALUE_FIELD_VALUE : 0;
    verdict->field_value = good ? UNCONST(judging.value.text) : NULL;
    judging_explain(&judging);
    judging_write_review(&judging);
    desk_put(judging.entry, "asked_fact", NULL);
    /* A text grows by the answers about its facts; any other value waits until it has passed. */
    if (good && (verdict->passed || verdict->n_missing_facts) && !put_value(&judging))
        return false;
    if (!verdict->passed) {
        ask_again(&judging);
        return true;
    }
    desk_set_state(desk, field, RENGA__V1__FIELD_STATE__FIELD_STATE_DONE);
    const char *label = form_field(desk->form, field)->label;
    const char *value = form_value_say(desk->form, field, judging.value.text, &desk->context, desk->arena);
    *understood = value ? arena_printf(desk->arena, "%s: %s", label, value) : NULL;
    return *understood != NULL;
}
