/* The issues of facts, each with the claim and the words of its source. */
#include "draft_facts_priv.h"
#include "findings.h"

#include "base/text.h"

#define SAID_MAX       ((size_t)600) /* bytes of a claim and of a source that an issue shows */
#define ISSUE(name)    RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_##name
#define SEVERITY(name) RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_##name

static void fact_add_issue(struct draft_facts *facts, const struct fact *fact, Renga__V1__IssueSeverity severity,
                           const struct note *form, const char *source)
{
    static const struct note place = {.ja = "%s番目の文", .en = "sentence %s"};
    struct draft_reviewing *reviewing = facts->reviewing;
    struct model_task *task = &reviewing->task;
    const char *said = model_task_text(task, fact->words, SAID_MAX);
    draft_add_issue(reviewing, ISSUE(FACT_CHECK), severity, model_task_compose(task, form, said, source),
                    model_task_compose(task, &place, model_task_printf(task, "%d", fact->number), NULL));
}

void fact_report_contradicted(struct draft_facts *facts, const struct fact *fact, const struct fact_source *source)
{
    static const struct note form = {.ja = "情報源と一致しません: 「%s」。情報源: %s",
                                     .en = "The source does not say this: \"%s\". The source: %s"};
    struct model_task *task = &facts->reviewing->task;
    /* The sentence of a longer quote that is most similar to the claim. */
    struct claim nearest = source->quote;
    struct arena arena;
    struct support support = {0};
    struct passage passage = {.text = nearest.text, .length = nearest.length};
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct evidence *evidence =
        facts->reviewing->review.n_issues < DRAFT_ISSUES_MAX ? evidence_create(&arena, &passage, 1) : NULL;
    if (evidence)
        support_find(evidence, fact->words, fact->length, SUPPORT_ENOUGH, &support);
    if (support.quote.end > support.quote.begin)
        nearest = (struct claim){nearest.text + support.quote.begin, support.quote.end - support.quote.begin};
    arena_fini(&arena);
    size_t kept = text_cut(nearest.text, nearest.length, SAID_MAX);
    fact_add_issue(facts, fact, SEVERITY(HIGH), &form,
                   model_task_printf(task, "[%d] %.*s: \"%.*s\"", source->number, (int)source->title.length,
                                     source->title.text, (int)kept, nearest.text));
}

void fact_report_unsupported(struct draft_facts *facts, const struct fact *fact, bool number)
{
    static const struct note unsupported = {.ja = "情報源に裏付けがありません: %s",
                                            .en = "No source supports this: %s"};
    static const struct note unknown = {.ja = "どの情報源にもない数値があります: %s",
                                        .en = "No source has a number of this: %s"};
    fact_add_issue(facts, fact, number ? SEVERITY(HIGH) : SEVERITY(MEDIUM), number ? &unknown : &unsupported, NULL);
}

void fact_report_forged(struct draft_facts *facts, const struct fact *fact, const struct fact_source *source,
                        bool quote)
{
    static const struct note no_quote = {.ja = "引用が情報源にありません: 「%s」。引用: %s",
                                         .en = "The quote is not in its source: \"%s\". The quote: %s"};
    static const struct note no_source = {.ja = "引用元が情報源にありません: 「%s」。引用: %s",
                                          .en = "The citation names none of the sources: \"%s\". The quote: %s"};
    struct model_task *task = &facts->reviewing->task;
    size_t title = text_cut(source->title.text, source->title.length, SAID_MAX);
    size_t kept = text_cut(source->quote.text, source->quote.length, SAID_MAX);
    fact_add_issue(facts, fact, SEVERITY(HIGH), quote ? &no_quote : &no_source,
                   model_task_printf(task, "[%d] %.*s: \"%.*s\"", source->number, (int)title, source->title.text,
                                     (int)kept, source->quote.text));
}

void fact_report_reference(struct draft_facts *facts, const struct fact *fact)
{
    static const struct note wrong = {.ja = "注の情報源はこれを裏付けていません: %s",
                                      .en = "The source of the note does not support this: %s"};
    fact_add_issue(facts, fact, SEVERITY(MEDIUM), &wrong, NULL);
}

void fact_report_rest(struct draft_facts *facts, const struct fact *fact)
{
    static const struct note rest = {.ja = "長いドラフトのため、この文から先の事実は確認していません: %s",
                                     .en = "The draft is long; facts are not checked from here on: %s"};
    fact_add_issue(facts, fact, SEVERITY(HIGH), &rest, NULL);
}
