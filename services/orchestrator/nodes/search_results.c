#include "search_results.h"

#include "base/hash.h"
#include "base/text.h"
#include "http/canonical.h"
#include "rpc/message_json.h"
#include "words/sentences.h"

#include "renga/v1/source.pb-c.h"

#include <math.h>
#include <string.h>

/* The hash of the address's canonical form; 0: the address opens no document. */
static uint64_t result_key(const Renga__V1__SearchHit *hit, struct buffer *form)
{
    return canonical_write(hit->uri, form) == CANONICAL_BROKEN ? 0 : hash_bytes(buffer_text(form), form->length) | 1;
}

void search_results_sort(struct search_results *results, Renga__V1__SearchHit *const *hits, size_t count, size_t most)
{
    uint64_t keys[SEARCH_RESULTS_MAX];
    struct buffer form;
    buffer_init(&form, CANONICAL_MAX);
    results->hits = hits;
    results->count = count < SEARCH_RESULTS_MAX ? count : SEARCH_RESULTS_MAX;
    for (size_t i = 0; i < results->count; i++) {
        size_t first = 0;
        keys[i] = result_key(hits[i], &form);
        while (keys[first] != keys[i])
            first++;
        bool is_new = first == i;
        results->of[i] = !keys[i] || (is_new && !most) ? -1 : is_new ? (int)i : results->of[first];
        most -= is_new && results->of[i] >= 0;
    }
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

void search_results_write(const struct search_results *results, struct json_writer *out)
{
    struct buffer summary;
    buffer_init(&summary, (size_t)8 * SEARCH_SUMMARY_CHARACTERS);
    for (size_t i = 0; i < results->count; i++) {
        if (results->of[i] != (int)i)
            continue;
        buffer_clear(&summary);
        result_put_first(&summary, results->hits[i]);
        for (size_t j = i + 1; j < results->count; j++)
            if (results->of[j] == (int)i)
                sentences_append(&summary, results->hits[j]->snippet, SEARCH_SUMMARY_CHARACTERS);
        result_write(out, results->hits[i], buffer_text(&summary));
    }
    buffer_fini(&summary);
}
