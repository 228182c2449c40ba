#include "search/passages.h"

#include "base/text.h"
#include "documents/html_tokens.h"

#include <string.h>

#define BETWEEN " … "

static void passages_append(struct search_passages *passages, const char *text, size_t length)
{
    size_t cut = passages->is_full ? 0 : text_cut(text, length, SEARCH_SNIPPET_MAX - passages->length);
    memcpy(passages->text + passages->length, text, cut);
    passages->length += cut;
    passages->text[passages->length] = '\0';
    passages->is_full |= cut < length;
}

static void passages_begin(struct search_passages *passages)
{
    if (!passages->goes_on && passages->length)
        passages_append(passages, BETWEEN, sizeof BETWEEN - 1);
    passages->goes_on = true;
}

void search_passages_add(struct search_passages *passages, const char *text)
{
    static const char marks[] = {SEARCH_MARK_BEGIN, SEARCH_MARK_END, '\0'};
    passages->goes_on = false;
    for (text = text ? text : ""; *text && !passages->is_full; text += *text ? 1 : 0) {
        size_t length = strcspn(text, marks);
        if (length) {
            passages_begin(passages);
            passages_append(passages, text, length);
        }
        text += length;
    }
}

static void passages_append_token(struct search_passages *passages, struct piece text)
{
    while (text.length && !passages->is_full) {
        char character[HTML_CHARACTER_MAX];
        const char *reference = memchr(text.at, '&', text.length);
        size_t plain = reference ? (size_t)(reference - text.at) : text.length, size = 0, taken = 0;
        passages_append(passages, text.at, plain);
        text = (struct piece){text.at + plain, text.length - plain};
        if (!text.length)
            break;
        size = html_reference(text, character, &taken);
        passages_append(passages, size ? character : "&", size ? size : 1);
        taken = size ? taken : 1;
        text = (struct piece){text.at + taken, text.length - taken};
    }
}

void search_passages_add_html(struct search_passages *passages, const char *html)
{
    struct html_token token;
    struct html_tokens tokens = html_tokens_of((struct piece){html ? html : "", strlen(html ? html : "")});
    passages->goes_on = false;
    while (!passages->is_full && html_next(&tokens, &token))
        if (token.kind == HTML_TEXT && token.text.length) {
            passages_begin(passages);
            passages_append_token(passages, token.text);
        }
}

const char *search_passages_text(const struct search_passages *passages)
{
    return passages->length ? passages->text : NULL;
}
