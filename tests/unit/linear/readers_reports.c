/* services/renga: a report in Markdown as a page, texts on a terminal, and answers that are evaluated. */
#include "readers.h"

#include "base/text.h"
#include "renga/eval.h"
#include "renga/research.h"
#include "renga/wrap.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_MAX   ((size_t)256 << 20) /* bytes */
#define CITATIONS  20
#define QUOTE_MAX  200
#define REPORT_MAX ((size_t)1048576) /* as DeepResearchResult.report_md */

/* The sentences are not in the report, so that each is looked for in all of it. */
static void report_write_page(struct input *in)
{
    static char missing[] = "a sentence that the report does not have", uri[] = "a.md";
    Renga__V1__DeepResearchResult result = RENGA__V1__DEEP_RESEARCH_RESULT__INIT;
    Renga__V1__Citation citations[CITATIONS], *list[CITATIONS];
    char *quote = arena_strndup(&in->arena, in->text, text_cut(in->text, in->length, QUOTE_MAX));
    struct buffer page;
    if (!quote)
        abort();
    for (size_t i = 0; i < CITATIONS; i++) {
        list[i] = &citations[i];
        renga__v1__citation__init(list[i]);
        citations[i].sentence_number = (int32_t)i + 1;
        citations[i].sentence = missing;
        citations[i].uri = uri;
        citations[i].quote = quote;
    }
    result.question = quote;
    result.report_md = (char *)(uintptr_t)in->text;
    result.citations = list;
    result.n_citations = CITATIONS;
    buffer_init(&page, PAGE_MAX);
    research_put_html(&page, research_words("en", quote), &result);
    in->accepted = !page.failed && strstr(buffer_text(&page), "</html>") != NULL;
    buffer_fini(&page);
}

static const struct generator marks[] = {
    {"brackets that open", 0, .unit = "["},
    {"links that end nowhere", 0, .unit = "[a](b"},
    {"stars", 0, .unit = "*a "},
    {"pairs of stars", 0, .unit = "**a "},
    {"ticks", 0, .begin = "`", .unit = "a` "},
    {"lists within lists", 0, .unit = "- a\n  - b\n    - c\n"},
    {"rows of a table", 0, .unit = "| a | b |\n"},
    {"fences", 0, .unit = "```\n"},
    {"one long row", 0, .begin = "|", .unit = " a |"},
    {.name = NULL},
};

/* In lines, as marked text and as one cell of a table. */
static void show_on_terminal(struct input *in)
{
    FILE *out = fopen("/dev/null", "w");
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!out)
        abort();
    wrap_put(&in->out, in->text, in->length, false);
    wrap_text_on(out, buffer_text(&in->out), 4, 80, true);
    wrap_fit(in->text, wrap_columns(in->text) / 2);
    fclose(out);
}

/* Of `renga eval`, whose other parts are not linked here. */
void show_text_on(FILE *out, const char *text) {}

/* The right answer is the second half of the answer, so that most of it is found again and again. */
static void report_judge_answer(struct input *in)
{
    const char *const answers[] = {in->text + in->length / 2};
    const struct eval_question question = {.answers = answers, .answer_count = 1};
    eval_text_has(in->text, in->length, &question);
}

static void report_read_question(struct input *in)
{
    struct eval_question question;
    eval_question_read(&question, in->text, in->length, &in->arena, &in->st);
}

const struct reader readers_reports[] = {
    {"text on a terminal", show_on_terminal, .sets = HOSTILE_TEXT | HOSTILE_BYTES | HOSTILE_FIELD},
    {"an answer that is evaluated", report_judge_answer, .sets = HOSTILE_TEXT | HOSTILE_BYTES | HOSTILE_MARKUP},
    {"a question of an evaluation", report_read_question, .sets = HOSTILE_JSON, .most = EVAL_LINE_MAX},
    {"a report as a page", report_write_page, .sets = HOSTILE_TEXT | HOSTILE_MARKUP | HOSTILE_TABLE, .own = marks,
     .most = REPORT_MAX, .accepts = true},
    {.name = NULL},
};
