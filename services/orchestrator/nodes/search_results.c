#include "search_results.h"

#include "base/hash.h"
#include "base/text.h"
#include "http/canonical.h"
#include "rpc/message_json.h"
#include "words/sentences.h"

#include "renga/v1/source.pb-c.h"

#include <math.h>
#include <string.h>

#define RESULTS_MAX 100 /* as SearchResponse.hits */

/* The canonical forms of the addresses, as hashes; 0: the address opens no document. */
struct result_keys {
    uint64_t keys[RESULTS_MAX];
    size_t count;
};

static void result_keys_read(struct result_keys *keys, Renga__V1__SearchHit *const *hits, size_t count)
{
    struct buffer form;
    buffer_init(&form, CANONICAL_MAX);
    keys->count = count < RESULTS_MAX ? count : RESULTS_MAX;
    for (size_t i = 0; i < keys->count; i++)
        keys->keys[i] = canonical_write(hits[i]->uri, &form) == CANONICAL_BROKEN
                            ? 0
                            : hash_bytes(buffer_text(&form), form.length) | 1;
    buffer_fini(&form);
}

/* A long text begins with the words that fit the query best. */
static void result_put_first(struct buffer *summary, const Renga__V1__SearchHit *hit)
{
    const char *text = hit->snippet, *quote = NULL;
    size_t length = strlen(text), kept = text_cut_characters(text, length, SEARCH_SUMMARY_CHARACTERS);
    if (kept < length && hit->quote[0])
        quote = strstr(text, hit->quote);
    if (quote) {
        text = quote;
        kept = text_cut_characters(text, strlen(text), SEARCH_SUMMARY_CHARACTERS);
    }
    buffer_append(summary, text, kept);
}

static void result_write(struct json_writer *out, const Renga__V1__SearchHit *hit, const char *summary)
{
    Renga__V1__SearchResult result = RENGA__V1__SEARCH_RESULT__INIT;
    result.title = hit->title;
    result.url = hit->uri;
    result.source = hit->source;
    result.summary = (char *)(uintptr_t)summary;
    result.published_date = hit->published_date;
    result.maybe_relevance_score_case = RENGA__V1__SEARCH_RESULT__MAYBE_RELEVANCE_SCORE_RELEVANCE_SCORE;
    result.relevance_score = isfinite(hit->score) ? fmin(fmax(hit->score, 0), 1) : 0;
    message_write_json(out, NULL, &result.base);
}

void search_results_write(struct json_writer *out, Renga__V1__SearchHit *const *hits, size_t count)
{
    struct result_keys keys;
    struct buffer summary;
    result_keys_read(&keys, hits, count);
    buffer_init(&summary, (size_t)8 * SEARCH_SUMMARY_CHARACTERS);
    for (size_t i = 0; i < keys.count; i++) {
        bool first = keys.keys[i] != 0;
        for (size_t j = 0; j < i && first; j++)
            first = keys.keys[j] != keys.keys[i];
        if (!first)
            continue;
        buffer_clear(&summary);
        result_put_first(&summary, hits[i]);
        for (size_t j = i + 1; j < keys.count; j++)
            if (keys.keys[j] == keys.keys[i])
                sentences_append(&summary, hits[j]->snippet, SEARCH_SUMMARY_CHARACTERS);
        result_write(out, hits[i], buffer_text(&summary));
    }
    buffer_fini(&summary);
}
