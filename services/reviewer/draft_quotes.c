/* The citations of a draft. They are not trusted: the address of a citation must be that of a source, and its quote
 * must stand there, letter by letter; white space, width and case are ignored. */
#include "draft_facts_priv.h"

#include "words/fold.h"

#define CITED_MOST   8                 /* citations of a claim; more of them count as forged */
#define LETTERS_MOST ((size_t)4096)    /* bytes of a quote, as Citation.quote */
#define SEARCHED_MAX ((size_t)1 << 28) /* bytes in which the quotes of a draft are searched: some 100 ms */

/* The letters of a text in normal form, without white space, in the arena. A quote has at most 4,096 bytes and a
 * passage at most 8,192. NULL: no memory. */
static char *quote_letters(struct arena *arena, const char *text, size_t length, size_t *count)
{
    char *letters = arena_alloc(arena, 4 * length + 5);
    struct fold fold;
    struct folded c;
    *count = 0;
    fold_begin(&fold, text, length);
    while (letters && fold_next(&fold, &c) && *count + 4 <= 4 * length)
        if (script_of(c.code) != SCRIPT_SPACE)
            *count += utf8_write(letters + *count, c.code);
    return letters;
}

static bool quote_stands_in(struct draft_facts *facts, struct fact_text *text, const char *letters, size_t count)
{
    if (!text->letters)
        text->letters = quote_letters(facts->arena, text->passage.text, text->passage.length, &text->letter_count);
    facts->searched += text->letter_count;
    return text->letters && facts->searched < SEARCHED_MAX && memmem(text->letters, text->letter_count, letters, count);
}

static bool quote_stands(struct draft_facts *facts, size_t owner, const char *quote)
{
    size_t count, length = strlen(quote);
    char *letters = length <= LETTERS_MOST ? quote_letters(facts->arena, quote, length, &count) : NULL;
    if (!letters || !count)
        return false;
    for (size_t at = facts->firsts[owner]; at; at = facts->texts[at - 1].next)
        if (quote_stands_in(facts, &facts->texts[at - 1], letters, count))
            return true;
    return false;
}

enum fact_cited fact_cited_by(struct draft_facts *facts, const struct fact *fact, struct fact_source *source,
                              size_t *owner)
{
    const Renga__V1__ReviewDraftRequest *request = facts->request;
    enum fact_cited cited = FACT_NOT_CITED;
    size_t looked = 0;
    for (size_t i = 0; i < request->n_citations; i++) {
        const Renga__V1__Citation *citation = request->citations[i];
        if (citation->sentence_number != fact->number || !citation->quote[0])
            continue;
        struct fact_source quoted = {fact_claim(citation->quote), fact_claim(citation->title),
                                     citation->reference_number};
        int cites = draft_source_at(&facts->table, citation->uri);
        bool stands = cites >= 0 && looked++ < CITED_MOST && quote_stands(facts, (size_t)cites, citation->quote);
        if (!stands) {
            *source = quoted;
            return cites < 0 ? FACT_FORGED_SOURCE : FACT_FORGED_QUOTE;
        }
        if (cited == FACT_SUPPORTED)
            continue;
        quoted.title = fact_claim(request->sources[cites]->title);
        *source = quoted;
        *owner = (size_t)cites;
        cited = fact_agrees(fact, source) ? FACT_SUPPORTED : FACT_CITED;
    }
    return cited;
}
