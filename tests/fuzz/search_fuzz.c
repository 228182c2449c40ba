/* libFuzzer on answers and errors of search engines. The first byte says whose (of search_providers) and of which
 * status. Results have texts of UTF-8 within their bounds and ranks that rise; a failure has a code and a text; reading
 * twice gives the same. The input is a query, too: it is cut at a character. */
#include "search/provider.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const char *no_header(const void *from, const char *name)
{
    return NULL;
}

/* The settings of a document with an index and a title within an object. */
static void *settings_of(const struct search_provider *provider)
{
    static const char index[] = "kb", title[] = "meta.title";
    struct status st = {0};
    char *settings = calloc(1, provider->settings_size + 1);
    must(settings != NULL);
    for (const struct field *field = provider->fields; field && field->option.name; field++) {
        bool is_title = strcmp(field->option.name, "title_field") == 0 && provider == &search_opensearch;
        const char *value = is_title ? title : index;
        if (is_title || strcmp(field->option.name, "index") == 0)
            memcpy(settings + field->at, &value, sizeof value);
    }
    must(!provider->check || provider->check(settings, &st));
    return settings;
}

static void must_be_text(const char *text, size_t room)
{
    must(text && strlen(text) <= room && text_is_clean(text, strlen(text)));
}

static void search_fuzz_look_at(const struct search_answer *answer)
{
    must(answer->count <= SEARCH_RESULTS_MAX && answer->lists >= 1 && answer->lists <= SEARCH_LISTS_MAX);
    for (size_t i = 0; i < answer->count; i++) {
        must_be_text(answer->results[i].uri, SEARCH_URI_MAX);
        must_be_text(answer->results[i].title, SEARCH_TITLE_MAX);
        must_be_text(answer->results[i].snippet, SEARCH_SNIPPET_MAX);
        must_be_text(answer->results[i].published_date, SEARCH_DATE_MAX);
        must(answer->list[i] < answer->lists);
        bool goes_on = i && answer->list[i] == answer->list[i - 1];
        must(answer->rank[i] == (goes_on ? answer->rank[i - 1] + 1 : 1));
    }
}

static size_t read_once(const struct search_provider *provider, int http_status, const char *body, size_t size)
{
    void *settings = settings_of(provider);
    const struct search_source source = {.name = "here", .provider = provider, .settings = settings};
    struct search_answer answer;
    struct search_failure failure = {.quota = false};
    search_answer_init(&answer);
    const struct search_reply reply = {
        .http_status = http_status, .body = body, .size = size, .header = no_header, .arena = &answer.arena};
    bool good = http_status < 300 && provider->read_answer(&source, &reply, &answer, &failure);
    size_t count = good ? answer.count + 1 : 0;
    if (http_status >= 300 && provider->read_error)
        provider->read_error(&source, &reply, &failure);
    if (good)
        search_fuzz_look_at(&answer);
    else if (http_status < 300 || provider->read_error)
        must(failure.status.code != OK && failure.status.text[0]);
    search_answer_fini(&answer);
    free(settings);
    return count;
}

static void search_fuzz_cut_query(const char *text, size_t size)
{
    size_t clean = text_clean_length(text, size), cut = search_query_cut(text, 400, 50);
    if (clean < size)
        return; /* no query */
    must(cut <= size && text_is_clean(text, cut));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = {200, 206, 403, 422, 429, 503};
    size_t count = 0;
    if (size < 1)
        return 0;
    while (search_providers[count])
        count++;
    const struct search_provider *provider = search_providers[data[0] % count];
    int http_status = statuses[data[0] / count % (sizeof statuses / sizeof statuses[0])];
    char *body = malloc(size); /* the byte behind it is a NUL, as a transfer has it */
    must(body != NULL);
    memcpy(body, data + 1, size - 1);
    body[size - 1] = '\0';
    must(read_once(provider, http_status, body, size - 1) == read_once(provider, http_status, body, size - 1));
    search_fuzz_cut_query(body, size - 1);
    free(body);
    return 0;
}
