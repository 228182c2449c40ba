/* Citations: the sentences of a text with the words of the sources that carry them. */
#include "cite_text.h"

#include "base/text.h"
#include "rpc/message_json.h"
#include "words/sentences.h"

#include "renga/v1/citation.pb-c.h"
#include "renga/v1/reviewer.pb-c.h"

#include <string.h>

#define SENTENCE_SHOWN_MAX ((size_t)4096) /* bytes, as Citation.sentence */
#define QUOTE_MAX          ((size_t)4096) /* bytes, as Citation.quote */
#define PASSAGE_MAX        ((size_t)8192) /* bytes, as SourcePassage.text */
#define PASSAGE_BEFORE     ((size_t)2048) /* bytes of a long source before its quote */
#define PASSAGES_BYTES_MAX ((size_t)256 << 10)

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

static bool cite_write_passage(struct json_writer *json, const struct cite_sources *sources, size_t hit, size_t begin,
                               size_t length)
{
    Renga__V1__SourcePassage passage = RENGA__V1__SOURCE_PASSAGE__INIT;
    passage.uri = sources->hits[hit]->uri;
    passage.text = arena_strndup(sources->arena, sources->hits[hit]->snippet + begin, length);
    if (passage.text)
        message_write_json(json, NULL, &passage.base);
    return passage.text;
}

bool cite_text_write_passages(struct json_writer *json, struct cite_text *cite)
{
    const struct cite_sources *sources = cite->sources;
    size_t room = PASSAGES_BYTES_MAX;
    bool *whole = arena_zalloc(sources->arena, CITE_SOURCES_MAX * sizeof *whole), good = whole;
    for (size_t i = 0; good && i < cite->cited_count; i++) {
        const struct support *support = &cite->cited[i].support;
        const char *text = sources->hits[support->passage]->snippet;
        size_t begin = support->quote.begin > PASSAGE_BEFORE ? support->quote.begin - PASSAGE_BEFORE : 0;
        if (whole[support->passage])
            continue;
        whole[support->passage] = strlen(text) <= PASSAGE_MAX;
        begin = whole[support->passage] ? 0 : begin;
        while (begin && ((unsigned char)text[begin] & 0xC0) == 0x80)
            begin--;
        size_t length = text_cut(text + begin, strlen(text + begin), PASSAGE_MAX);
        if (length > room)
            break; /* the reviewer does not find the quotes of the rest */
        room -= length;
        good = cite_write_passage(json, sources, support->passage, begin, length);
    }
    return good;
}
