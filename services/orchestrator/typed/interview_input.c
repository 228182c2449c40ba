/* Requests of the form interview: checked, and converted to the input of a run. */
#include "interview.h"

#include "base/field_check.h"
#include "base/text.h"
#include "form/form.h"
#include "rpc/message_json.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES ((size_t)128)
#define MODEL_MAX      ((size_t)128)
#define TEXT_MAX       ((size_t)32768)
#define FACTS_MAX      1000
#define FACT_MAX       ((size_t)4096)
#define ROUNDS_MAX     100
#define LABELS_MAX     64
#define FILTERS_MAX    16
#define LABEL_KEY_MAX  ((size_t)64)
#define LABEL_MAX      ((size_t)256)
#define PAGE_MAX       500
#define TOKEN_MAX      ((size_t)256)
#define TTL_NEVER      (-1)

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* A name has at most NAME_MAX_BYTES bytes and no control characters. */
static bool input_check_name(const char *field, const char *text, struct status *st)
{
    if (!text_fits(st, field, text, NAME_MAX_BYTES))
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return fail_field(st, field, "has the control character 0x%02x at byte %zu; names have none",
                              (unsigned)(unsigned char)*c, (size_t)(c - text));
    return true;
}

bool interview_check_session(const char *session_id, struct status *st)
{
    if (!*session_id)
        return fail_field(st, "session_id", "is empty; it must name a session");
    return input_check_name("session_id", session_id, st);
}

struct pair {
    ProtobufCMessage base;
    char *key, *value;
};

/* All maps of strings have the same entry layout (struct pair). */
static bool input_check_labels(void *entries, size_t count, size_t most, struct status *st)
{
    struct pair **labels = entries;
    if (!count_fits(st, "labels", count, most))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!labels[i]->key[0] || strlen(labels[i]->key) > LABEL_KEY_MAX || strlen(labels[i]->value) > LABEL_MAX)
            return fail_field(st, "labels",
                              "has a key of %zu and a value of %zu bytes; 1 to %zu and at most %zu are allowed",
                              strlen(labels[i]->key), strlen(labels[i]->value), LABEL_KEY_MAX, LABEL_MAX);
    return true;
}

/* Values of form fields. Whether a field exists is checked later, by the process that owns the session. */
static bool input_check_values(const char *field, void *entries, size_t count, struct status *st)
{
    struct pair **values = entries;
    if (!count_fits(st, field, count, FORM_FIELDS_MAX))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!values[i]->key[0] || strlen(values[i]->key) > NAME_MAX_BYTES)
            return fail_field(st, field, "has a field_id of %zu bytes; 1 to %zu are allowed", strlen(values[i]->key),
                              NAME_MAX_BYTES);
        if (strlen(values[i]->value) > FORM_VALUE_MAX || text_is_blank(values[i]->value))
            return fail_field(st, field, "'%.64s' has %zu bytes; it must not be blank, and at most %zu are allowed",
                              values[i]->key, strlen(values[i]->value), FORM_VALUE_MAX);
    }
    return true;
}

static bool input_check_bootstrap(const Renga__V1__Bootstrap *known, struct status *st)
{
    char language[36], country[3], timezone[64];
    if (!known)
        return true;
    if (*known->language && !form_is_language(known->language, language))
        return fail_field(st, "bootstrap.language", "is '%.64s', which is no BCP 47 tag; such as \"ja\" or \"en-GB\"",
                          known->language);
    if (*known->country && !form_is_country(known->country, country))
        return fail_field(st, "bootstrap.country", "is '%.64s', which is no ISO 3166 code; such as \"JP\" or \"US\"",
                          known->country);
    if (*known->timezone && !form_is_timezone(known->timezone, timezone))
        return fail_field(st, "bootstrap.timezone", "is '%.64s', which is no time zone of IANA; such as \"Asia/Tokyo\"",
                          known->timezone);
    return true;
}

static bool input_check_form(const Renga__V1__StartInterviewRequest *request, struct arena *arena, struct status *st)
{
    if (!request->form)
        return fail_field(st, "form", "is missing; give a form with at least one field");
    const struct form *form = form_open(arena, request->form, st);
    for (size_t i = 0; form && i < request->n_prefilled; i++)
        if (form_find(form, request->prefilled[i]->key) < 0)
            return fail_field(st, "prefilled", "has '%.64s', which is no field of the form",
                              request->prefilled[i]->key);
    return form != NULL;
}

bool interview_check_start(const Renga__V1__StartInterviewRequest *request, struct arena *arena, struct status *st)
{
    if (!count_fits(st, "known_facts", request->n_known_facts, FACTS_MAX))
        return false;
    for (size_t i = 0; i < request->n_known_facts; i++)
        if (!text_is_given(st, path_of("known_facts", i, ""), request->known_facts[i], FACT_MAX))
            return false;
    if (request->ttl_ms < TTL_NEVER)
        return fail_field(st, "ttl_ms", "is %lld; it must be -1 (never), 0 (as the server is configured) or more",
                          (long long)request->ttl_ms);
    return input_check_name("request_id", request->request_id, st) &&
           input_check_name("session_id", request->session_id, st) &&
           text_fits(st, "model", request->model, MODEL_MAX) &&
           number_fits(st, "max_loops", request->max_loops, ROUNDS_MAX) &&
           input_check_bootstrap(request->bootstrap, st) &&
           input_check_labels(request->labels, request->n_labels, LABELS_MAX, st) &&
           input_check_values("prefilled", request->prefilled, request->n_prefilled, st) &&
           input_check_form(request, arena, st);
}

static bool input_check_revision(int64_t revision, struct status *st)
{
    return revision >= 0 ||
           fail_field(st, "expected_revision", "is %lld; it must be 0 (any) or more", (long long)revision);
}

bool interview_check_confirm(const Renga__V1__ConfirmInterviewRequest *request, struct status *st)
{
    return interview_check_session(request->session_id, st) && input_check_revision(request->expected_revision, st);
}

bool interview_check_answer(const Renga__V1__AnswerInterviewRequest *request, struct status *st)
{
    if (!input_check_name("request_id", request->request_id, st) || !interview_check_session(request->session_id, st) ||
        !text_fits(st, "text", request->text, TEXT_MAX) ||
        !input_check_values("values", request->values, request->n_values, st))
        return false;
    if (!input_check_revision(request->expected_revision, st))
        return false;
    return request->n_values || text_is_given(st, "text", request->text, TEXT_MAX);
}

bool interview_check_list(const Renga__V1__ListSessionsRequest *request, struct status *st)
{
    return input_check_labels(request->labels, request->n_labels, FILTERS_MAX, st) &&
           number_fits(st, "page_size", request->page_size, PAGE_MAX) &&
           text_fits(st, "page_token", request->page_token, TOKEN_MAX);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

struct input {
    struct buffer text;
    struct json_writer out;
};

static void input_begin(struct input *input, const char *action, int64_t expected_revision)
{
    buffer_init(&input->text, INTERVIEW_INPUT_MAX);
    json_writer_init(&input->out, &input->text);
    json_write_object(&input->out, NULL);
    json_write_string(&input->out, "action", action);
    json_write_int(&input->out, "expected_revision", expected_revision);
}

static char *input_end(struct input *input, struct arena *arena, struct status *st)
{
    json_write_end(&input->out);
    bool whole = json_writer_done(&input->out);
    char *copy = whole ? arena_strdup(arena, buffer_text(&input->text)) : NULL;
    if (!copy)
        fail(st, whole ? RESOURCE_EXHAUSTED : INVALID_ARGUMENT,
             whole ? "no memory for the call" : "the request is longer than %zu bytes as JSON", INTERVIEW_INPUT_MAX);
    buffer_fini(&input->text);
    return copy;
}

static void write_pairs(struct json_writer *out, const char *name, void *entries, size_t count)
{
    struct pair **pairs = entries;
    json_write_object(out, name);
    for (size_t i = 0; i < count; i++)
        json_write_string(out, pairs[i]->key, pairs[i]->value);
    json_write_end(out);
}

char *interview_input_start(const Renga__V1__StartInterviewRequest *request, struct arena *arena, struct status *st)
{
    struct input input;
    char canonical[64];
    const Renga__V1__Bootstrap *known = request->bootstrap;
    input_begin(&input, "start", 0);
    message_write_json(&input.out, "form", &request->form->base);
    if (known && form_is_language(known->language, canonical))
        json_write_string(&input.out, "language", canonical);
    if (known && form_is_country(known->country, canonical))
        json_write_string(&input.out, "country", canonical);
    if (known && form_is_timezone(known->timezone, canonical))
        json_write_string(&input.out, "timezone", canonical);
    json_write_strings(&input.out, "known_facts", request->known_facts, request->n_known_facts);
    if (request->max_loops)
        json_write_int(&input.out, "max_loops", request->max_loops);
    write_pairs(&input.out, "prefilled", request->prefilled, request->n_prefilled);
    write_pairs(&input.out, "labels", request->labels, request->n_labels);
    json_write_string(&input.out, "model", request->model);
    if (request->budget)
        message_write_json(&input.out, "budget", &request->budget->base);
    return input_end(&input, arena, st);
}

/* A text message is also a turn of the conversation; values entered without a message are not. */
char *interview_input_answer(const Renga__V1__AnswerInterviewRequest *request, struct arena *arena, struct status *st)
{
    struct input input;
    bool said = !text_is_blank(request->text);
    input_begin(&input, "answer", request->expected_revision);
    json_write_string(&input.out, "said", said ? request->text : "");
    write_pairs(&input.out, "values", request->values, request->n_values);
    json_write_array(&input.out, "messages");
    if (said) {
        json_write_object(&input.out, NULL);
        json_write_string(&input.out, "role", "user");
        json_write_string(&input.out, "content", request->text);
        json_write_end(&input.out);
    }
    json_write_end(&input.out);
    json_write_int(&input.out, "message_count", said ? 1 : 0);
    return input_end(&input, arena, st);
}

char *interview_input_confirm(const Renga__V1__ConfirmInterviewRequest *request, struct arena *arena, struct status *st)
{
    struct input input;
    input_begin(&input, "confirm", request->expected_revision);
    return input_end(&input, arena, st);
}
