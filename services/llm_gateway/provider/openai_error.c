/* OpenAI's errors: https://platform.openai.com/docs/guides/error-codes. Compatible servers use other forms:
 * {"error": {…}}, {"error": "text"}, {"message": …}, {"detail": …}, or one of them in a list. */
#include "contract/failure.h"
#include "openai_priv.h"

#include "base/text.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX 384 /* bytes of the provider's message that are kept, so that our own words have capacity too */
#define WORD_MAX    64

/* The parsed fields of an error; "" for a missing one. */
struct complaint {
    int number; /* a code that is a number, of servers that repeat the HTTP status there */
    char message[MESSAGE_MAX];
    char type[WORD_MAX], code[WORD_MAX], param[STATUS_FIELD_MAX];
};

static void take_string(const cJSON *item, char *to, size_t capacity)
{
    if (!cJSON_IsString(item))
        return;
    size_t size = text_cut(item->valuestring, strlen(item->valuestring), capacity - 1);
    memcpy(to, item->valuestring, size);
    to[size] = '\0';
}

static void openai_error_take(const cJSON *object, const char *name, char *to, size_t capacity)
{
    take_string(cJSON_GetObjectItemCaseSensitive(object, name), to, capacity);
}

static void read_complaint(const cJSON *error, struct complaint *complaint)
{
    if (cJSON_IsArray(error))
        error = error->child;
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(error, "error");
    if (inner && !cJSON_IsNull(inner))
        error = inner;
    take_string(error, complaint->message, sizeof complaint->message);
    openai_error_take(error, "detail", complaint->message, sizeof complaint->message);
    openai_error_take(error, "message", complaint->message, sizeof complaint->message);
    openai_error_take(error, "type", complaint->type, sizeof complaint->type);
    openai_error_take(error, "code", complaint->code, sizeof complaint->code);
    openai_error_take(error, "param", complaint->param, sizeof complaint->param);
    const cJSON *code = cJSON_GetObjectItemCaseSensitive(error, "code");
    if (cJSON_IsNumber(code) && code->valuedouble >= 100 && code->valuedouble < 600)
        complaint->number = code->valueint;
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

/* A code or a type, for errors without an HTTP status of their own; with one, only those that say more than it does. */
static const struct word {
    const char *word;
    enum status_code code;
    bool says_more;
    const char *reason;
} words[] = {
    {"insufficient_quota", RESOURCE_EXHAUSTED, true, FAILURE_QUOTA},
    {"billing_hard_limit_reached", RESOURCE_EXHAUSTED, true, FAILURE_QUOTA},
    {"insufficient_balance", RESOURCE_EXHAUSTED, true, FAILURE_QUOTA},
    {"billing_error", RESOURCE_EXHAUSTED, true, FAILURE_QUOTA},
    {"model_not_found", NOT_FOUND, true, NULL},
    {"DeploymentNotFound", NOT_FOUND, true, NULL},
    {"not_found_error", NOT_FOUND, false, NULL},
    {"request_too_large", INVALID_ARGUMENT, false, NULL},
    {"rate_limit_exceeded", RESOURCE_EXHAUSTED, false, NULL},
    {"rate_limit_error", RESOURCE_EXHAUSTED, false, NULL},
    {"invalid_api_key", FAILED_PRECONDITION, false, NULL},
    {"authentication_error", FAILED_PRECONDITION, false, NULL},
    {"permission_error", FAILED_PRECONDITION, false, NULL},
    {"context_length_exceeded", INVALID_ARGUMENT, true, FAILURE_CONTEXT},
    {"exceed_context_size_error", INVALID_ARGUMENT, true, FAILURE_CONTEXT},
    {"invalid_request_error", INVALID_ARGUMENT, false, NULL},
};

static const struct word *openai_error_find_word(const struct complaint *complaint)
{
    const char *said[] = {complaint->code, complaint->type};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strcmp(words[i].word, said[k]) == 0)
                return &words[i];
    return NULL;
}

/* A 404 is a model that does not exist, or a base URL that is wrong: only the body tells. */
static bool names_model(const struct complaint *complaint)
{
    return strcmp(complaint->param, "model") == 0 || strcasestr(complaint->message, "model");
}

static enum status_code openai_error_code_of(int http_status, const struct complaint *complaint, const char **reason)
{
    switch (http_status) {
    case 401:
    case 403:
        return FAILED_PRECONDITION;
    case 402:
        *reason = FAILURE_QUOTA;
        return RESOURCE_EXHAUSTED;
    case 404:
        return names_model(complaint) ? NOT_FOUND : FAILED_PRECONDITION;
    case 408:
    case 409:
    case 425:
        return UNAVAILABLE;
    case 429:
        return RESOURCE_EXHAUSTED;
    default:
        if (http_status >= 500)
            return UNAVAILABLE;
        /* A redirect is not followed: the key would go to another host. */
        return http_status >= 400 ? INVALID_ARGUMENT : FAILED_PRECONDITION;
    }
}

/* Most servers say it in words alone: vLLM as OpenAI does, Anthropic, Ollama. */
static bool is_too_long(const struct complaint *complaint)
{
    static const char *const phrases[] = {"maximum context length", "prompt is too long", "exceed context limit",
                                          "exceeds the context length", "exceeds the available context"};
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (strcasestr(complaint->message, phrases[i]))
            return true;
    return false;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *theirs, *ours;
} fields[] = {
    {"temperature", "sampling.temperature"},
    {"top_p", "sampling.top_p"},
    {"seed", "sampling.seed"},
    {"frequency_penalty", "sampling.frequency_penalty"},
    {"presence_penalty", "sampling.presence_penalty"},
    {"max_tokens", "max_output_tokens"},
    {"max_completion_tokens", "max_output_tokens"},
    {"response_format.json_schema.schema", "response_format.schema_json"},
    {"response_format.json_schema.name", "response_format.name"},
    {"response_format", "response_format"},
    {"model", "model"},
    {"messages", "messages"},
    {"input", "inputs"},
    {"dimensions", "dimensions"},
    {"stop", "stop"},
    {"tools", "tools"},
    {"tool_choice", "tool_choice"},
    {"parallel_tool_calls", "parallel_tool_calls"},
    {"reasoning_effort", "reasoning_effort"},
};

/* "messages.[2].content" and "tools[0].function.parameters" by the names of our request; "" for an unknown field. */
static void openai_error_field_of(const char *param, char *field, size_t capacity)
{
    field[0] = '\0';
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        size_t length = strlen(fields[i].theirs);
        const char *rest = param + length;
        if (strncmp(param, fields[i].theirs, length) != 0 || (*rest && *rest != '.' && *rest != '['))
            continue;
        if (rest[0] == '.' && rest[1] == '[')
            rest++;
        snprintf(field, capacity, "%s%s", fields[i].ours, rest);
        break;
    }
    char *function = strstr(field, "].function.");
    if (!function)
        return;
    memmove(function + 2, function + strlen("].function."), strlen(function + strlen("].function.")) + 1);
    if (strncmp(field, "tools[", 6) == 0 && strcmp(function + 2, "parameters") == 0)
        snprintf(function + 2, capacity - (size_t)(function + 2 - field), "parameters_json");
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

static void openai_error_fill(struct failure *failure, enum status_code code, const struct complaint *complaint,
                              int http_status)
{
    char http[24] = "", field[STATUS_FIELD_MAX];
    const char *message = complaint->message[0] ? complaint->message : "it does not say why";
    if (http_status)
        snprintf(http, sizeof http, " (HTTP %d)", http_status);
    openai_error_field_of(complaint->param, field, sizeof field);
    switch (code) {
    case INVALID_ARGUMENT:
        if (!failure->reason && is_too_long(complaint))
            failure->reason = FAILURE_CONTEXT;
        if (!field[0] && failure->reason)
            snprintf(field, sizeof field, "messages");
        if (field[0])
            fail_field(&failure->status, field, "the provider refuses it%s: %s", http, message);
        else
            fail(&failure->status, code, "the provider refuses the request%s: %s", http, message);
        return;
    case NOT_FOUND:
        fail(&failure->status, code, "the provider has no such model%s: %s", http, message);
        return;
    case FAILED_PRECONDITION:
        fail(&failure->status, code,
             "the provider refuses the gateway itself%s, whose operator should look at its key and base URL: %s", http,
             message);
        return;
    case RESOURCE_EXHAUSTED:
        fail(&failure->status, code, "%s%s: %s",
             failure_is_quota(failure) ? "the gateway's account with the provider is empty"
                                       : "the provider takes no more requests at present",
             http, message);
        return;
    default:
        fail(&failure->status, code, "the provider failed%s: %s", http, message);
    }
}

void openai_read_error(int http_status, const char *body, size_t size, struct failure *failure)
{
    struct complaint complaint = {0};
    struct status ignored = {0};
    cJSON *root = json_parse(body, size, NULL, &ignored);
    if (root)
        read_complaint(root, &complaint);
    cJSON_Delete(root);
    enum status_code code = openai_error_code_of(http_status, &complaint, &failure->reason);
    const struct word *word = http_status < 500 ? openai_error_find_word(&complaint) : NULL;
    if (word && word->says_more) {
        code = word->code;
        failure->reason = word->reason;
    }
    openai_error_fill(failure, code, &complaint, http_status);
}

bool openai_fail_in_band(const cJSON *error, struct failure *failure)
{
    struct complaint complaint = {0};
    read_complaint(error, &complaint);
    const struct word *word = openai_error_find_word(&complaint);
    enum status_code code = UNAVAILABLE;
    if (word) {
        code = word->code;
        failure->reason = word->reason;
    } else if (complaint.number) {
        code = openai_error_code_of(complaint.number, &complaint, &failure->reason);
    }
    openai_error_fill(failure, code, &complaint, 0);
    return false;
}
