/* The judgement over an answer: is it carried by what was found, and does it cover what was asked? */
#include "extract.h"

#include "words/words.h"

#include <string.h>

#define SENTENCES_MAX  64  /* of an answer that are looked at */
#define COVERED_ENOUGH 0.5 /* of what was asked, by sentences that are supported */
#define CARRIED_ENOUGH 0.5 /* of the answer's sentences */

struct verdict {
    size_t sentences, carried;
    struct coverage coverage;
};

/* The sentences of the answer that are carried, with what stands above their sources. */
static size_t carried_of(const struct extract *extract, const struct evidence *found,
                         struct passage carried[SENTENCES_MAX], size_t *all)
{
    struct sentence_reader reader;
    struct span span;
    struct support support;
    size_t count = 0;
    *all = 0;
    sentences_begin(&reader, extract->answer.bytes, extract->answer.length);
    while (*all < SENTENCES_MAX && sentences_next(&reader, &span)) {
        const char *sentence = extract->answer.bytes + span.begin;
        ++*all;
        if (!support_find(found, sentence, span.end - span.begin, SUPPORT_ENOUGH, &support))
            continue;
        const struct passage *source = &extract->passages[support.passage];
        carried[count++] = (struct passage){.text = sentence,
                                            .length = span.end - span.begin,
                                            .heading = source->heading,
                                            .heading_length = source->heading_length};
    }
    return count;
}

static bool weigh(const struct extract *extract, struct verdict *verdict)
{
    struct passage *carried = arena_alloc(extract->arena, SENTENCES_MAX * sizeof *carried);
    struct evidence *found = evidence_create(extract->arena, extract->passages, extract->passage_count);
    if (!carried || !found)
        return false;
    verdict->carried = carried_of(extract, found, carried, &verdict->sentences);
    struct evidence *said = evidence_create(extract->arena, carried, verdict->carried);
    if (!said)
        return false;
    evidence_cover(said, found, extract->asked.bytes, extract->asked.length, &verdict->coverage);
    return true;
}

static void name_missing(const struct extract *extract, const struct verdict *verdict, struct buffer *advice)
{
    bool japanese = extract->japanese;
    for (size_t i = 0; i < verdict->coverage.missing_count; i++) {
        struct span span = verdict->coverage.missing[i];
        buffer_printf(advice, japanese ? "%s「%.*s」" : "%s\"%.*s\"", i && !japanese ? ", " : "",
                      (int)(span.end - span.begin), extract->asked.bytes + span.begin);
    }
}

static void write_advice(const struct extract *extract, const struct verdict *verdict, bool completed,
                         struct buffer *advice)
{
    bool japanese = extract->japanese, missing = verdict->coverage.missing_count > 0;
    if (completed) {
        buffer_print(advice, japanese ? "問われた語は資料の記述で裏付けられています。"
                                      : "What was asked is covered by sentences that stand in the sources.");
    } else if (!verdict->carried) {
        buffer_print(advice,
                     japanese ? "資料に裏付けのある文が回答にありません。別の語で探し直してください: "
                              : "No sentence of the answer stands in the sources. Search again with other words for: ");
        struct text words = extract_keywords(extract->arena, extract->asked, (struct text){NULL, 0});
        buffer_append(advice, words.bytes, words.length);
    } else if (missing) {
        buffer_print(advice, japanese ? "次の語に触れた記述がありません: " : "Not covered by the sources: ");
        name_missing(extract, verdict, advice);
        buffer_print(advice, japanese ? "。これらの語か言い換えで探し直してください。"
                                      : ". Search again for these words, or for others that mean the same.");
    } else {
        buffer_print(advice,
                     japanese ? "回答の文のうち資料で裏付けられるものが少なすぎます。資料にある文だけで答えてください。"
                              : "Too few sentences of the answer stand in the sources. Keep to those that do.");
    }
}

bool extract_judge(const struct extract *extract, struct buffer *advice)
{
    struct verdict verdict = {0};
    bool completed = weigh(extract, &verdict) && verdict.carried > 0 &&
                     (double)verdict.carried >= CARRIED_ENOUGH * (double)verdict.sentences &&
                     verdict.coverage.share >= COVERED_ENOUGH;
    write_advice(extract, &verdict, completed, advice);
    return completed;
}
