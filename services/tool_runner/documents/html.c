/* HTML token by token: no tree is made, so its depth needs no bound. Text is gathered with its white space folded until
 * a block begins or ends; headings are headings; scripts, styles and navigation are left out. It fetches no URL.
 *
 * Open elements stand in a stack. Each links to the next open element of its name below it, so that an end tag is
 * matched without a search: pages of tags that are never closed take as long per byte as others. */
#include "documents/ascii_space.h"
#include "documents/html_tokens.h"

#include "base/buffer.h"
#include "words/sentences.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX   (2 * DOCUMENT_MAX) /* bytes of text between two blocks */
#define OPEN_FIRST 64                 /* elements that there is room for at first */

enum role {
    INLINE,
    BLOCK, /* a paragraph of its own */
    GROUP, /* its items are lines of a single paragraph */
    ITEM,
    CELL,
    BREAK,
    PREFORMATTED,
    HEADING,
    TITLE,
    LEFT_OUT,
};

/* An end tag does not reach beyond an open element of a higher rank: "</p>" within a cell does not end an element
 * outside. */
enum rank { FLOW, DIVISION, IN_ROW, ROW, TABLE, RANKS };

/* The places of these elements in the table. */
enum { LIST, ORDERED_LIST, LIST_ITEM };

static const struct tag {
    const char *name;
    enum role role;
    enum rank rank;
    bool ends_heading; /* its beginning ends a heading that is still open */
} tags[] = {
    [LIST] = {"ul", GROUP, .ends_heading = true},
    [ORDERED_LIST] = {"ol", GROUP, .ends_heading = true},
    [LIST_ITEM] = {"li", ITEM, .ends_heading = true},
    {"p", BLOCK, .ends_heading = true},
    {"div", BLOCK, DIVISION, false},
    {"section", BLOCK, DIVISION, false},
    {"article", BLOCK, DIVISION, false},
    {"main", BLOCK, DIVISION, false},
    {"blockquote", BLOCK, .rank = FLOW},
    {"header", BLOCK, .rank = FLOW},
    {"footer", BLOCK, .rank = FLOW},
    {"aside", BLOCK, .rank = FLOW},
    {"figure", BLOCK, .rank = FLOW},
    {"address", BLOCK, .rank = FLOW},
    {"details", BLOCK, .rank = FLOW},
    {"summary", BLOCK, .rank = FLOW},
    {"figcaption", BLOCK, .rank = FLOW},
    {"caption", BLOCK, .rank = FLOW},
    {"form", BLOCK, .ends_heading = true},
    {"hr", BLOCK, .ends_heading = true},
    {"dl", GROUP, .ends_heading = true},
    {"table", GROUP, TABLE, true},
    {"tr", ITEM, ROW, false},
    {"dt", ITEM, .rank = FLOW},
    {"dd", ITEM, .rank = FLOW},
    {"td", CELL, IN_ROW, false},
    {"th", CELL, IN_ROW, false},
    {"br", BREAK, .rank = FLOW},
    {"pre", PREFORMATTED, .rank = FLOW},
    {"h1", HEADING, .ends_heading = true},
    {"h2", HEADING, .ends_heading = true},
    {"h3", HEADING, .ends_heading = true},
    {"h4", HEADING, .ends_heading = true},
    {"h5", HEADING, .ends_heading = true},
    {"h6", HEADING, .ends_heading = true},
    {"title", TITLE, .rank = FLOW},
    {"nav", LEFT_OUT, .rank = FLOW},
    {"script", LEFT_OUT, .rank = FLOW},
    {"style", LEFT_OUT, .rank = FLOW},
    {"template", LEFT_OUT, .rank = FLOW},
    {"noscript", LEFT_OUT, .rank = FLOW},
    {"svg", LEFT_OUT, .rank = FLOW},
    {"math", LEFT_OUT, .rank = FLOW},
    {"rt", LEFT_OUT, .rank = FLOW},
    {"rp", LEFT_OUT, .rank = FLOW},
    {"select", LEFT_OUT, .rank = FLOW},
    {"button", LEFT_OUT, .rank = FLOW},
};
#define TAGS (sizeof tags / sizeof tags[0])

/* An element that is open. Places in the stack are counted from 1; 0: no place. */
struct element {
    uint32_t tag;
    uint32_t same_tag, same_rank; /* the position of the next element of this kind below */
    unsigned items;               /* of a list, so far */
};

struct html {
    struct document *document;
    struct buffer text; /* of the open block */
    int line_from, line_to;
    unsigned left_out, groups, preformatted; /* how many of them are open around */
    bool space, newline;                     /* stand between the gathered text and the next text */
    bool has_words;                          /* the text is more than white space: its lines are known */
    unsigned number;                         /* of the item that begins with the next text; 0: it has none */
    struct element *open;
    uint32_t count, room;
    uint32_t of_tag[TAGS], of_rank[RANKS]; /* the place of the uppermost */
};

/* NULL: an element that only stands within lines. */
static const struct tag *tag_of(struct piece name)
{
    for (size_t i = 0; i < TAGS; i++)
        if (piece_is_word(name, tags[i].name))
            return &tags[i];
    return NULL;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* The gathered text, copied to the document's own memory. */
static struct piece html_take_text(struct html *html)
{
    size_t length = html->text.length;
    char *text = length ? arena_copy(&html->document->arena, html->text.data, length) : NULL;
    buffer_clear(&html->text);
    html->space = html->newline = html->has_words = false;
    return (struct piece){text, text ? length : 0};
}

/* If a long paragraph is divided, only its first line is known: all parts get the lines of the whole paragraph. */
static void html_close_block(struct html *html)
{
    struct piece text = html_take_text(html);
    struct paragraph **link = html->document->last;
    if (!text.length || !document_add_paragraph(html->document, text, html->line_from))
        return;
    for (struct paragraph *paragraph = *link; paragraph; paragraph = paragraph->next) {
        paragraph->line_from = html->line_from;
        paragraph->line_to = html->line_to;
    }
}

static void close_heading(struct html *html, unsigned level)
{
    struct piece text = html_take_text(html);
    if (text.length)
        document_add_heading(html->document, level, text, html->line_from);
}

static void add_character(struct html *html, char c)
{
    if (ascii_is_space(c) && !html->preformatted) {
        html->space = true;
        return;
    }
    if (html->text.length && html->newline)
        buffer_put(&html->text, '\n');
    else if (html->text.length && html->space)
        buffer_put(&html->text, ' ');
    if (html->number)
        buffer_printf(&html->text, "%u. ", html->number);
    html->space = html->newline = false;
    html->number = 0;
    buffer_put(&html->text, c);
}

static void take_characters(struct html *html, struct piece text, int line)
{
    char character[HTML_CHARACTER_MAX];
    size_t step, length;
    for (size_t i = 0; i < text.length; i += step) {
        struct piece rest = {text.at + i, text.length - i};
        step = 1;
        if (!ascii_is_space(*rest.at)) {
            if (!html->has_words)
                html->line_from = line;
            html->has_words = true;
            html->line_to = line;
        }
        length = *rest.at == '&' ? html_reference(rest, character, &step) : 0;
        step = length ? step : 1;
        for (size_t c = 0; c < length; c++)
            add_character(html, character[c]);
        if (!length)
            add_character(html, *rest.at);
        line += *rest.at == '\n';
    }
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* Within a list or a table all text is a single paragraph, until it is long enough. */
static void begin_block(struct html *html)
{
    if (!html->groups || html->text.length > PARAGRAPH_MAX)
        html_close_block(html);
    else
        html->newline = true;
}

static void begin_group(struct html *html)
{
    if (!html->groups && !sentences_announce(html->text.data, html->text.length))
        html_close_block(html);
    html->newline = true;
    html->groups++;
}

/* The items of an ordered list have numbers, as a reader sees them. */
static void begin_item(struct html *html, const struct tag *tag)
{
    uint32_t ordered = html->of_tag[ORDERED_LIST], other = html->of_tag[LIST];
    begin_block(html);
    html->number = tag == &tags[LIST_ITEM] && ordered > other ? ++html->open[ordered - 1].items : 0;
}

static void begin_element(struct html *html, const struct tag *tag)
{
    enum role role = tag->role;
    if (role == LEFT_OUT || html->left_out) {
        html->left_out += role == LEFT_OUT;
        return;
    }
    switch (role) {
    case BLOCK:
        begin_block(html);
        break;
    case ITEM:
        begin_item(html, tag);
        break;
    case GROUP:
        begin_group(html);
        break;
    case PREFORMATTED:
        begin_block(html);
        html->preformatted++;
        break;
    case HEADING:
    case TITLE:
        html_close_block(html);
        break;
    case CELL:
        html->space = true;
        break;
    case BREAK:
        html->newline = true;
        break;
    default:
        break;
    }
}

static void end_element(struct html *html, const struct tag *tag)
{
    if (html->left_out) {
        html->left_out -= tag->role == LEFT_OUT;
        return;
    }
    switch (tag->role) {
    case PREFORMATTED:
        html->preformatted -= html->preformatted > 0;
        begin_block(html);
        break;
    case BLOCK:
        if (!sentences_announce(html->text.data, html->text.length) || html->groups)
            begin_block(html);
        break;
    case ITEM:
        begin_block(html);
        break;
    case GROUP:
        html->number = 0;
        html->groups -= html->groups > 0;
        begin_block(html);
        break;
    case HEADING:
        close_heading(html, (unsigned)(tag->name[1] - '0'));
        break;
    case TITLE:
        document_set_title(html->document, html_take_text(html));
        break;
    default:
        break;
    }
}

/* ---- which are open ---------------------------------------------------------------------------------------------- */

static bool html_push(struct html *html, const struct tag *tag)
{
    if (html->count == html->room) {
        uint32_t room = html->room ? 2 * html->room : OPEN_FIRST;
        struct element *more = realloc(html->open, room * sizeof *more);
        if (!more)
            return false;
        html->open = more;
        html->room = room;
    }
    uint32_t index = (uint32_t)(tag - tags);
    html->open[html->count++] =
        (struct element){.tag = index, .same_tag = html->of_tag[index], .same_rank = html->of_rank[tag->rank]};
    html->of_tag[index] = html->of_rank[tag->rank] = html->count;
    return true;
}

static void pop(struct html *html)
{
    const struct element *top = &html->open[--html->count];
    const struct tag *tag = &tags[top->tag];
    html->of_tag[top->tag] = top->same_tag;
    html->of_rank[tag->rank] = top->same_rank;
    end_element(html, tag);
}

/* The place of the element that an end tag ends; 0: it stands alone. */
static uint32_t html_place_of(const struct html *html, const struct tag *tag)
{
    uint32_t place = html->of_tag[tag - tags];
    for (unsigned rank = tag->rank + 1; rank < RANKS; rank++)
        if (html->of_rank[rank] > place)
            return 0;
    return place;
}

static bool start_tag(struct html *html, const struct tag *tag, bool is_closed)
{
    if (html->left_out == 0) {
        /* A heading or a title that was not closed ends before an element that cannot be in it. */
        const struct tag *top = html->count ? &tags[html->open[html->count - 1].tag] : NULL;
        if (top && ((top->role == HEADING && tag->ends_heading) || (top->role == TITLE && tag->role != BREAK)))
            pop(html);
    }
    begin_element(html, tag);
    if (tag->role == BREAK || (!is_closed && strcmp(tag->name, "hr") != 0))
        return tag->role == BREAK || html_push(html, tag);
    end_element(html, tag);
    return true;
}

/* Elements that are still open within the element end with it. */
static void end_tag(struct html *html, const struct tag *tag)
{
    uint32_t place = html_place_of(html, tag);
    while (place && html->count >= place)
        pop(html);
}

static bool html_take_token(struct html *html, const struct html_token *token)
{
    if (token->kind == HTML_TEXT) {
        if (!html->left_out)
            take_characters(html, token->text, token->line);
        return true;
    }
    const struct tag *tag = tag_of(token->text);
    if (tag && token->kind == HTML_START)
        return start_tag(html, tag, token->is_closed);
    if (tag)
        end_tag(html, tag);
    return true;
}

bool read_html_parts(struct document *document, struct piece text, const struct part *left_out, size_t count,
                     struct status *st)
{
    struct html html = {.document = document};
    struct html_tokens tokens = html_tokens_of(text);
    struct html_token token;
    bool read = true;
    buffer_init(&html.text, TEXT_MAX);
    while (read) {
        for (; count && tokens.at >= text.at + left_out->from; left_out++, count--)
            if (tokens.at < text.at + left_out->to)
                html_skip(&tokens, text.at + left_out->to);
        if (!html_next(&tokens, &token))
            break;
        read = html_take_token(&html, &token);
    }
    html_close_block(&html);
    buffer_fini(&html.text);
    free(html.open);
    return read || fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
}

bool read_html(struct document *document, struct piece text, struct status *st)
{
    return read_html_parts(document, text, NULL, 0, st);
}
