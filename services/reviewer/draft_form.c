/* The form of a report by code: a title, a summary of 200 to 300 characters, 3 to 5 findings, an analysis with a
 * section for each point, references, notes that lead somewhere, and sound Markdown. */
#include "draft_priv.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define SUMMARY_LEAST  200 /* characters, without notes */
#define SUMMARY_MOST   300
#define FINDINGS_LEAST 3
#define FINDINGS_MOST  5
#define ISSUE(name)    RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_##name
#define SEVERITY(name) RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_##name

/* The requirements: how many there are, and how many are met. */
struct form {
    struct draft_reviewing *reviewing;
    const char *draft;
    struct draft_parts parts;
    double met;
    int all;
};

static void form_require(struct form *form, double share, Renga__V1__IssueSeverity severity, const struct note *lacks,
                         const char *what)
{
    struct model_task *task = &form->reviewing->task;
    form->all++;
    form->met += share;
    if (share < 1)
        draft_add_issue(form->reviewing, ISSUE(FORMAT), severity, model_task_compose(task, lacks, what, NULL),
                        model_task_text(task, "", 0));
}

static bool form_has(const struct form *form, enum draft_part part)
{
    return form->parts.parts[part].begin != SIZE_MAX;
}

/* The characters of a part, without notes, line breaks and blanks at the ends of lines. */
static size_t form_characters(const char *text, size_t length)
{
    size_t count = 0;
    bool blank = true;
    for (size_t at = 0; at < length;) {
        int number;
        size_t note = text[at] == '[' ? draft_note_read(text + at, length - at, &number) : 0;
        size_t character = note ? note : text_character(text + at, length - at);
        bool space = strchr(" \t\r\n", text[at]) != NULL;
        count += !note && !(space && blank);
        blank = note ? blank : space;
        at += character ? character : 1;
    }
    return count - (blank && count);
}

/* Items of a list, or paragraphs if there is no list. */
static int form_items(const char *text, size_t length)
{
    int items = 0, lines = 0;
    for (size_t at = 0, end; at < length; at = end + 1) {
        const char *newline = memchr(text + at, '\n', length - at);
        end = newline ? (size_t)(newline - text) : length;
        size_t begin = at + strspn(text + at, " \t"), digits = strspn(text + begin, "0123456789");
        bool bullet = begin + 1 < end && strchr("-*+", text[begin]) && text[begin + 1] == ' ';
        bool number = digits && begin + digits + 1 < end && strchr(".)", text[begin + digits]);
        items += begin < at + 2 && (bullet || number);
        lines += begin < end && text[begin] != '\r';
    }
    return items ? items : lines;
}

static void form_check_notes(struct form *form)
{
    static const struct note open = {.ja = "定義のない、または使われない注が%s個あります",
                                     .en = "%s notes are not defined or not used"};
    static const struct note none = {.ja = "注（[^1]）がありません", .en = "There are no notes like [^1]"};
    struct model_task *task = &form->reviewing->task;
    struct draft_notes *notes = model_task_alloc(task, sizeof *notes);
    if (!notes)
        return;
    draft_notes_read(notes, form->reviewing->request);
    draft_notes_report(form->reviewing, notes);
    size_t wrong = notes->undefined + notes->unused;
    double share = notes->count ? 1 - (double)wrong / (double)notes->count : 0;
    form_require(form, share, SEVERITY(LOW), notes->count ? &open : &none, model_task_printf(task, "%zu", wrong));
}

static bool fences_are_closed(const char *draft)
{
    int fences = strncmp(draft, "```", 3) == 0;
    for (const char *at = draft; (at = strstr(at, "\n```")); at += 4)
        fences++;
    return fences % 2 == 0;
}

double draft_form(struct draft_reviewing *reviewing)
{
    struct form form = {.reviewing = reviewing, .draft = reviewing->request->draft};
    draft_parts_read(form.draft, &form.parts);
    /* The parts of a report. */
    static const struct note lacking[] = {
        {.ja = "要約（Executive Summary）のセクションがありません", .en = "There is no section \"Executive Summary\""},
        {.ja = "主な発見（Key Findings）のセクションがありません", .en = "There is no section \"Key Findings\""},
        {.ja = "詳細分析（Detailed Analysis）のセクションがありません",
         .en = "There is no section \"Detailed Analysis\""},
        {.ja = "参考文献（References）のセクションがありません", .en = "There is no section with references"},
    };
    static const struct note title = {.ja = "題名となる「# 」の見出しは一つだけ必要です",
                                      .en = "There must be one heading \"# \" as the title"};
    form_require(&form, form.parts.titles == 1, SEVERITY(MEDIUM), &title, NULL);
    for (size_t i = 0; i < DRAFT_PARTS; i++)
        form_require(&form, form_has(&form, i), SEVERITY(MEDIUM), &lacking[i], NULL);
    /* The lengths of the summary and of the findings. */
    static const struct note summary = {.ja = "要約は%s文字です（200〜300文字が必要です）",
                                        .en = "The summary has %s characters; 200 to 300 are required"};
    static const struct note findings = {.ja = "主な発見は%s件です（3〜5件が必要です）",
                                         .en = "There are %s key findings; 3 to 5 are required"};
    struct model_task *task = &form.reviewing->task;
    const struct span *part = &form.parts.parts[DRAFT_SUMMARY];
    size_t characters =
        form_has(&form, DRAFT_SUMMARY) ? form_characters(form.draft + part->begin, part->end - part->begin) : 0;
    part = &form.parts.parts[DRAFT_FINDINGS];
    int items = form_has(&form, DRAFT_FINDINGS) ? form_items(form.draft + part->begin, part->end - part->begin) : 0;
    form_require(&form, characters >= SUMMARY_LEAST && characters <= SUMMARY_MOST, SEVERITY(LOW), &summary,
                 model_task_printf(task, "%zu", characters));
    form_require(&form, items >= FINDINGS_LEAST && items <= FINDINGS_MOST, SEVERITY(LOW), &findings,
                 model_task_printf(task, "%d", items));
    /* A section for each point. */
    static const struct note missing = {.ja = "詳細分析に節のない観点が%s件あります",
                                        .en = "%s points have no section in the analysis"};
    const Renga__V1__ResearchPlan *plan = form.reviewing->request->plan;
    size_t count = plan ? plan->n_investigation_points : 0, has = 0;
    for (size_t i = 0; i < count; i++)
        has += draft_has_section(form.draft, &form.parts.parts[DRAFT_ANALYSIS], plan->investigation_points[i]);
    form_require(&form, count ? (double)has / (double)count : 1, SEVERITY(LOW), &missing,
                 model_task_printf(&form.reviewing->task, "%zu", count - has));
    form_check_notes(&form);
    /* Sound Markdown. */
    static const struct note fence = {.ja = "コードブロックが閉じられていません",
                                      .en = "A block of code is not closed"};
    static const struct note link = {.ja = "リンク先のないリンクがあります", .en = "A link leads nowhere"};
    form_require(&form, fences_are_closed(form.draft), SEVERITY(LOW), &fence, NULL);
    form_require(&form, !strstr(form.draft, "]()"), SEVERITY(LOW), &link, NULL);
    return form.met / form.all;
}
