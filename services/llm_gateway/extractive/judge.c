/* The judgement of an answer: is it in the sources, and does that place answer the question? It reports found and
 * missing parts, and never the truth of a statement. */
#include "extract.h"

#include "base/text.h"
#include "words/grounding.h"

#include <string.h>

#define WORDS_SHOWN ((size_t)160) /* bytes of the answer in the advice */
#define PART_LEAST  0.2           /* share of a part of the question that the places of the answer have */

static void judge_say(const struct extract *extract, struct buffer *advice, const char *japanese, const char *english)
{
    buffer_print(advice, extract->japanese ? japanese : english);
}

static void judge_quote(const struct extract *extract, struct buffer *advice, const char *text, size_t length)
{
    bool cut = length > WORDS_SHOWN;
    length = text_cut(text, length, WORDS_SHOWN);
    judge_say(extract, advice, "「", "\"");
    text_print(advice, (struct text){text, length});
    judge_say(extract, advice, cut ? "…」" : "」", cut ? "…\"" : "\"");
}

static void judge_say_keywords(const struct extract *extract, struct buffer *advice)
{
    struct text words = extract_keywords(extract->arena, extract->asked, (struct text){NULL, 0});
    text_print(advice, words);
}

static void judge_say_open(const struct extract *extract, struct text part, struct buffer *advice)
{
    judge_say(extract, advice,
              "この部分に触れた箇所が見つかっていません: ", "Nothing was found that speaks of this part: ");
    judge_quote(extract, advice, part.bytes, part.length);
    judge_say(extract, advice, "。この部分の語か言い換えで探し直してください。",
              ". Search again for its words, or for others that mean the same.");
}

static void judge_advise(const struct extract *extract, const struct grounding *grounding, struct buffer *advice)
{
    if (grounding->completed) {
        judge_say(extract, advice, "回答は資料の記述に見つかり、その箇所が問われたことに触れています。",
                  "The answer was found in the sources, where they speak of what was asked.");
    } else if (grounding->other.end) {
        judge_say(extract, advice,
                  "資料の該当箇所に見つからない語句が回答にあります: ", "Not found where the sources speak of it: ");
        judge_quote(extract, advice, extract->answer.bytes + grounding->other.begin,
                    grounding->other.end - grounding->other.begin);
        judge_say(extract, advice, "。資料にある文だけで答えてください。",
                  ". Keep to sentences that stand in the sources.");
    } else if (!grounding->found) {
        judge_say(extract, advice, "回答の文が資料に見つかりません。別の語で探し直してください: ",
                  "No sentence of the answer was found in the sources. Search again with other words for: ");
        judge_say_keywords(extract, advice);
    } else if (grounding->echoes) {
        judge_say(extract, advice,
                  "回答は質問を繰り返すだけです。資料から答えとなる語を加えるか、別の語で探し直してください: ",
                  "The answer only repeats the question. Add what the sources say, or search again for: ");
        judge_say_keywords(extract, advice);
    } else if (grounding->score < GROUNDING_ENOUGH) {
        judge_say(extract, advice, "次の語に触れた箇所が見つかっていません: ", "Nothing was found that speaks of: ");
        const struct coverage *coverage = &grounding->coverage;
        if (!coverage->missing_count) /* all words were found, but in passages about other subjects */
            judge_say_keywords(extract, advice);
        for (size_t i = 0; i < coverage->missing_count; i++) {
            struct span span = coverage->missing[i];
            judge_say(extract, advice, "", i ? ", " : "");
            judge_quote(extract, advice, extract->asked.bytes + span.begin, span.end - span.begin);
        }
        judge_say(extract, advice, "。これらの語か言い換えで探し直してください。",
                  ". Search again for these words, or for others that mean the same.");
    } else {
        judge_say(extract, advice, "資料に見つかる文が回答に少なすぎます。資料にある文だけで答えてください。",
                  "Too few sentences of the answer were found in the sources. Keep to those that stand there.");
    }
}

/* A part of the question that the places of the answer hardly cover; length 0: all parts are covered. */
static struct text judge_open_part(const struct extract *extract, const struct evidence *found, struct claim answer)
{
    struct text parts[EXTRACT_PARTS_MAX];
    size_t count = extract_split(extract->arena, extract->asked, extract->japanese, EXTRACT_PARTS_MAX, parts);
    for (size_t i = 0; count > 1 && i < count; i++) {
        struct grounding part;
        if (grounding_judge(found, (struct claim){parts[i].bytes, parts[i].length}, answer, &part) &&
            part.coverage.share < PART_LEAST)
            return parts[i];
    }
    return (struct text){NULL, 0};
}

bool extract_judge(const struct extract *extract, struct buffer *advice)
{
    struct grounding grounding = {.sentences = 0};
    struct evidence *found = evidence_create(extract->arena, extract->passages, extract->passage_count);
    struct claim asked = {extract->asked.bytes, extract->asked.length};
    struct claim answer = {extract->answer.bytes, extract->answer.length};
    bool judged = found && answer.text && grounding_judge(found, asked, answer, &grounding);
    struct text open = {NULL, 0};
    if (judged && grounding.completed)
        open = judge_open_part(extract, found, answer);
    if (open.length)
        judge_say_open(extract, open, advice);
    else
        judge_advise(extract, &grounding, advice);
    return judged && grounding.completed && !open.length;
}
