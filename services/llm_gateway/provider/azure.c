/* Azure OpenAI: OpenAI's requests and answers by another way, and with filters before and behind the model.
 *      classic   {endpoint}/openai/deployments/{deployment}/chat/completions?api-version=2024-10-21
 *      v1        {endpoint}/openai/v1/chat/completions, the deployment as "model"; without a version
 * and the same with /embeddings in the place of /chat/completions. */
#include "answer/answer.h"
#include "openai_priv.h"

#include "json/json.h"

#include <stdio.h>
#include <string.h>

/* Names of deployments and versions need no escapes, and may not lead elsewhere. */
static bool is_plain(const char *text)
{
    return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0';
}

static bool azure_find_endpoint(const struct provider_terms *terms, struct provider_endpoint *way, struct status *st)
{
    way->key_header = "api-key";
    if (!terms->version[0]) {
        strcpy(way->path, "/openai/v1/chat/completions");
        strcpy(way->embed_path, "/openai/v1/embeddings");
        return true;
    }
    if (!is_plain(terms->version))
        return fail_field(st, "api_version", "'%.64s' must be like 2024-10-21", terms->version);
    if (!is_plain(terms->model))
        return fail_field(st, "azure_deployment",
                          "'%.64s' must be the name of an Azure deployment: letters, digits, '-', '_', '.'",
                          terms->model);
    int length = snprintf(way->path, sizeof way->path, "/openai/deployments/%s/chat/completions?api-version=%s",
                          terms->model, terms->version);
    snprintf(way->embed_path, sizeof way->embed_path, "/openai/deployments/%s/embeddings?api-version=%s", terms->model,
             terms->version); /* shorter than the other */
    return length < (int)sizeof way->path || fail_field(st, "azure_deployment", "is too long");
}

/* A prompt that the filter does not let pass is told as an error, and is an outcome as if the answer had been. */
static bool read_outcome(struct answer *answer, int http_status, const char *body, size_t size)
{
    struct status ignored = {0};
    cJSON *root = http_status == 400 ? json_parse(body, size, NULL, &ignored) : NULL;
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    const char *code = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(error, "code"));
    bool blocked = code && strcmp(code, "content_filter") == 0;
    if (blocked) {
        answer->ended = answer->had_choice = true;
        answer_stop(answer, &(struct answer_word){code, RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER}, code);
    }
    cJSON_Delete(root);
    return blocked;
}

const struct provider azure_provider = {
    .name = "azure",
    .url_variable = "AZURE_OPENAI_ENDPOINT",
    .key_variable = "AZURE_OPENAI_API_KEY",
    .stream_type = "text/event-stream",
    .find_endpoint = azure_find_endpoint,
    .write_chat = openai_write_chat,
    .read_chat = openai_read_chat,
    .read_event = openai_read_event,
    .read_error = openai_read_error,
    .read_outcome = read_outcome,
    .write_embed = openai_write_embed,
    .read_embed = openai_read_embed,
};
