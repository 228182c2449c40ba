/* Citations: the sentences of a text with the words of the sources that carry them. */
#include "cite_text.h"

#include "base/text.h"
#include "rpc/message_json.h"
#include "words/sentences.h"

#include "renga/v1/citation.pb-c.h"

#define SENTENCE_SHOWN_MAX ((size_t)4096) /* bytes, as Citation.sentence */
#define QUOTE_MAX          ((size_t)4096) /* bytes, as Citation.quote */

static char *citations_cut(struct arena *arena, const char *text, size_t length, size_t most)
{
    return arena_strndup(arena, text, text_cut(text, length, most));
}

bool cite_write_citation(struct json_writer *json, const struct cite_sources *sources,
                         const struct cite_sentence *sentence, const struct support *support)
{
    Renga__V1__Citation citation = RENGA__V1__CITATION__INIT;
    const Renga__V1__SearchHit *hit = sources->hits[support->passage];
    const struct span *quote = &support->quote, *span = &sentence->span;
    citation.sentence_number = sentence->number;
    citation.reference_number = sentence->reference;
    citation.sentence =
        citations_cut(sources->arena, sentence->text + span->begin, span->end - span->begin, SENTENCE_SHOWN_MAX);
    citation.uri = hit->uri;
    citation.title = hit->title;
    citation.heading_path = hit->heading_path;
    citation.n_heading_path = hit->n_heading_path;
    citation.quote = citations_cut(sources->arena, hit->snippet + quote->begin, quote->end - quote->begin, QUOTE_MAX);
    cite_lines(hit, quote, &citation.line_from, &citation.line_to);
    if (!citation.sentence || !citation.quote)
        return false;
    message_write_json(json, NULL, &citation.base);
    return true;
}

/* Sentences are numbered as a reader of the whole text counts them. */
bool cite_text_write_citations(struct json_writer *json, struct cite_text *cite)
{
    struct sentence_reader reader;
    struct cite_sentence sentence = {.text = buffer_text(&cite->out)};
    size_t next = 0;
    bool good = true;
    sentences_begin(&reader, sentence.text, cite->out.length);
    while (good && next < cite->cited_count && sentences_next(&reader, &sentence.span)) {
        sentence.number++;
        for (; good && next < cite->cited_count && cite->cited[next].at < sentence.span.end; next++) {
            sentence.reference = cite->cited[next].reference;
            good = cite_write_citation(json, cite->sources, &sentence, &cite->cited[next].support);
        }
    }
    return good;
}
