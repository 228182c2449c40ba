/* HTML through libxml2's own parser, event by event: no tree is made, so there is none to be deep. Text is gathered
 * with its white space folded until a block begins or ends; headings are headings; scripts, styles and navigation are
 * left out. Nothing is fetched, no entity is a file. */
#include "documents/reading.h"

#include "base/buffer.h"

#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <string.h>

#define TEXT_MAX (2 * DOCUMENT_MAX) /* bytes of text between two blocks */

enum role {
    INLINE,
    BLOCK, /* a paragraph of its own */
    GROUP, /* its items are lines of one paragraph */
    ITEM,
    CELL,
    BREAK,
    PREFORMATTED,
    HEADING,
    TITLE,
    LEFT_OUT,
};

struct html {
    struct document *document;
    htmlParserCtxtPtr parser;
    struct buffer text; /* of the open block */
    int line_from, line_to;
    unsigned left_out, groups, preformatted; /* how many of them are open around */
    bool space, newline;                     /* stand between what is there and what comes */
};

static const struct {
    const char *name;
    enum role role;
} tags[] = {
    {"p", BLOCK},           {"div", BLOCK},     {"section", BLOCK},   {"article", BLOCK},    {"main", BLOCK},
    {"blockquote", BLOCK},  {"header", BLOCK},  {"footer", BLOCK},    {"aside", BLOCK},      {"figure", BLOCK},
    {"address", BLOCK},     {"details", BLOCK}, {"summary", BLOCK},   {"figcaption", BLOCK}, {"caption", BLOCK},
    {"form", BLOCK},        {"hr", BLOCK},      {"ul", GROUP},        {"ol", GROUP},         {"dl", GROUP},
    {"table", GROUP},       {"li", ITEM},       {"tr", ITEM},         {"dt", ITEM},          {"dd", ITEM},
    {"td", CELL},           {"th", CELL},       {"br", BREAK},        {"pre", PREFORMATTED}, {"h1", HEADING},
    {"h2", HEADING},        {"h3", HEADING},    {"h4", HEADING},      {"h5", HEADING},       {"h6", HEADING},
    {"title", TITLE},       {"nav", LEFT_OUT},  {"script", LEFT_OUT}, {"style", LEFT_OUT},   {"template", LEFT_OUT},
    {"noscript", LEFT_OUT}, {"svg", LEFT_OUT},  {"math", LEFT_OUT},   {"select", LEFT_OUT},  {"button", LEFT_OUT},
};

static enum role role_of(const xmlChar *name)
{
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (strcasecmp((const char *)name, tags[i].name) == 0)
            return tags[i].role;
    return INLINE;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void forget_text(struct html *html)
{
    buffer_clear(&html->text);
    html->space = html->newline = false;
}

/* What was gathered, in the document's own memory. */
static struct piece take_text(struct html *html)
{
    size_t length = html->text.length;
    char *text = length ? arena_copy(&html->document->arena, html->text.data, length) : NULL;
    forget_text(html);
    return (struct piece){text, text ? length : 0};
}

/* Of the lines of a long paragraph only the first is known where it is divided: all parts say the whole. */
static void close_block(struct html *html)
{
    struct piece text = take_text(html);
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
    struct piece text = take_text(html);
    if (text.length)
        document_add_heading(html->document, level, text, html->line_from);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void add_character(struct html *html, char c)
{
    if (is_space(c) && !html->preformatted) {
        html->space = true;
        return;
    }
    if (html->text.length && html->newline)
        buffer_put(&html->text, '\n');
    else if (html->text.length && html->space)
        buffer_put(&html->text, ' ');
    html->space = html->newline = false;
    buffer_put(&html->text, c);
}

/* The parser stands behind the text: what is known is the line of its end. */
static void note_lines(struct html *html, const char *text, size_t length)
{
    size_t from = 0, to = length;
    int line = html->parser->input ? html->parser->input->line : 1;
    while (to > 0 && is_space(text[to - 1]))
        line -= text[--to] == '\n';
    if (to == 0)
        return;
    html->line_to = line;
    if (html->text.length)
        return;
    while (is_space(text[from]))
        from++;
    for (size_t i = from; i < to; i++)
        line -= text[i] == '\n';
    html->line_from = line > 0 ? line : 1;
}

static void characters_came(void *data, const xmlChar *characters, int length)
{
    struct html *html = data;
    const char *text = (const char *)characters;
    if (html->left_out)
        return;
    note_lines(html, text, (size_t)length);
    for (int i = 0; i < length; i++)
        add_character(html, text[i]);
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static bool announces(const struct buffer *text)
{
    static const char wide[] = "：";
    size_t length = text->length, size = sizeof wide - 1;
    return length &&
           (text->data[length - 1] == ':' || (length >= size && memcmp(text->data + length - size, wide, size) == 0));
}

/* Within a list or a table all is one paragraph, until it is long enough. */
static void begin_block(struct html *html)
{
    if (!html->groups || html->text.length > PARAGRAPH_MAX)
        close_block(html);
    else
        html->newline = true;
}

static void begin_group(struct html *html)
{
    if (!html->groups && !announces(&html->text))
        close_block(html);
    html->newline = true;
    html->groups++;
}

static void element_began(void *data, const xmlChar *name, const xmlChar **attributes)
{
    struct html *html = data;
    enum role role = role_of(name);
    if (role == LEFT_OUT || html->left_out) {
        html->left_out += role == LEFT_OUT;
        return;
    }
    switch (role) {
    case BLOCK:
    case ITEM:
        begin_block(html);
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
        close_block(html);
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

static void element_ended(void *data, const xmlChar *name)
{
    struct html *html = data;
    enum role role = role_of(name);
    if (html->left_out) {
        html->left_out -= role == LEFT_OUT;
        return;
    }
    switch (role) {
    case PREFORMATTED:
        html->preformatted -= html->preformatted > 0;
        begin_block(html);
        break;
    case BLOCK:
        if (!announces(&html->text) || html->groups)
            begin_block(html);
        break;
    case ITEM:
        begin_block(html);
        break;
    case GROUP:
        html->groups -= html->groups > 0;
        begin_block(html);
        break;
    case HEADING:
        close_heading(html, (unsigned)(name[1] - '0'));
        break;
    case TITLE:
        document_set_title(html->document, take_text(html));
        break;
    default:
        break;
    }
}

static bool parse(struct html *html, struct piece text, struct status *st)
{
    html->parser = htmlCreateMemoryParserCtxt(text.at, (int)text.length);
    if (!html->parser)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
    htmlCtxtUseOptions(html->parser, HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                                         HTML_PARSE_IGNORE_ENC);
    xmlSwitchEncoding(html->parser, XML_CHAR_ENCODING_UTF8);
    memset(html->parser->sax, 0, sizeof *html->parser->sax);
    html->parser->sax->startElement = element_began;
    html->parser->sax->endElement = element_ended;
    html->parser->sax->characters = characters_came;
    html->parser->sax->ignorableWhitespace = characters_came;
    html->parser->userData = html;
    htmlParseDocument(html->parser);
    close_block(html);
    htmlFreeParserCtxt(html->parser);
    return true;
}

bool read_html(struct document *document, struct piece text, struct status *st)
{
    struct html html = {.document = document};
    if (!piece_trim(text).length)
        return true;
    buffer_init(&html.text, TEXT_MAX);
    bool read = parse(&html, text, st);
    buffer_fini(&html.text);
    return read;
}
