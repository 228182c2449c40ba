#include "documents/html_about.h"

#include "base/text.h"
#include "documents/html_hints.h"
#include "documents/html_tokens.h"
#include "json/json.h"

#include <string.h>
#include <strings.h>

#define JSON_MAX     ((size_t)256 << 10) /* bytes of a JSON-LD script */
#define JSON_DEPTH   32
#define JSON_OBJECTS 64 /* objects of JSON-LD that are looked at */
#define BYLINE_TEXT  100
#define BYLINE_BYTES 400 /* of the page, of an element within a line */
#define NODES_TRIED  64  /* elements of which the text is looked at */

/* The value found for a property: the source with the lowest rank counts. */
struct finding {
    char text[DOCUMENT_TITLE_MAX + 1];
    unsigned rank; /* 0: not found yet */
};

struct about {
    const struct html_tree *tree;
    struct finding title, byline, published, language, site, heading;
    bool is_written_by; /* the next twitter:data1 is a name */
};

/* The properties of meta elements, of which the value stands in `content`. */
static const struct meta {
    const char *name;
    size_t property; /* offset in struct about */
    unsigned rank;
} metas[] = {
    {"og:title", offsetof(struct about, title), 1},
    {"twitter:title", offsetof(struct about, title), 3},
    {"dc.title", offsetof(struct about, title), 4},
    {"og:site_name", offsetof(struct about, site), 1},
    {"article:published_time", offsetof(struct about, published), 1},
    {"og:article:published_time", offsetof(struct about, published), 1},
    {"datepublished", offsetof(struct about, published), 2},
    {"dc.date.issued", offsetof(struct about, published), 3},
    {"dcterms.date", offsetof(struct about, published), 3},
    {"dc.date", offsetof(struct about, published), 3},
    {"pubdate", offsetof(struct about, published), 4},
    {"publish-date", offsetof(struct about, published), 4},
    {"parsely-pub-date", offsetof(struct about, published), 4},
    {"date", offsetof(struct about, published), 6},
    {"author", offsetof(struct about, byline), 1},
    {"byl", offsetof(struct about, byline), 1},
    {"parsely-author", offsetof(struct about, byline), 2},
    {"article:author", offsetof(struct about, byline), 3},
    {"dc.creator", offsetof(struct about, byline), 3},
    {"twitter:data1", offsetof(struct about, byline), 5},
    {"content-language", offsetof(struct about, language), 3},
};

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* References resolved, white space folded, cut at a character. */
static void about_keep(struct finding *finding, unsigned rank, struct piece value)
{
    char text[DOCUMENT_TITLE_MAX + HTML_CHARACTER_MAX + 1];
    size_t length = 0, step;
    bool space = false;
    value = piece_trim(value);
    if (!value.length || (finding->rank && finding->rank <= rank))
        return;
    for (size_t i = 0; i < value.length && length < DOCUMENT_TITLE_MAX; i += step) {
        struct piece rest = {value.at + i, value.length - i};
        char character[HTML_CHARACTER_MAX] = {*rest.at};
        step = 1;
        size_t size = *rest.at == '&' ? html_reference(rest, character, &step) : 0;
        if (!size) {
            step = size = 1;
            character[0] = *rest.at;
        }
        space = space || (unsigned char)character[0] <= ' ';
        if ((unsigned char)character[0] <= ' ')
            continue;
        if (space && length)
            text[length++] = ' ';
        space = false;
        memcpy(text + length, character, size);
        length += size;
    }
    length = text_cut(text, length, DOCUMENT_TITLE_MAX);
    memcpy(finding->text, text, length);
    finding->text[length] = '\0';
    finding->rank = length ? rank : finding->rank;
}

/* A year, and a month behind a hyphen. */
static bool about_is_date(struct piece text)
{
    static const char form[] = "dddd-dd";
    text = piece_trim(text);
    for (size_t i = 0; i < sizeof form - 1; i++) {
        bool digit = i < text.length && text.at[i] >= '0' && text.at[i] <= '9';
        if (i >= text.length || (form[i] == 'd' ? !digit : text.at[i] != form[i]))
            return false;
    }
    return text.length <= PAGE_DATE_MAX;
}

static void about_keep_date(struct about *about, unsigned rank, struct piece value)
{
    if (about_is_date(value))
        about_keep(&about->published, rank, piece_trim(value));
}

static void about_keep_byline(struct about *about, unsigned rank, struct piece value)
{
    static const char *const first[] = {"written by ", "posted by ", "words by ", "by ",
                                        "par ",        "von ",       "文・",      "文："};
    value = piece_trim(value);
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        size_t size = strlen(first[i]);
        if (value.length > size && strncasecmp(value.at, first[i], size) == 0)
            value = piece_trim((struct piece){value.at + size, value.length - size});
    }
    if (value.length <= PAGE_BYLINE_MAX && !memmem(value.at, value.length, "://", 3))
        about_keep(&about->byline, rank, value);
}

/* ---- JSON-LD ----------------------------------------------------------------------------------------------------- */

static struct piece about_text_of(const cJSON *value)
{
    const char *text = cJSON_GetStringValue(value);
    return (struct piece){text ? text : "", text ? strlen(text) : 0};
}

static const cJSON *about_first_of(const cJSON *value)
{
    return cJSON_IsArray(value) ? value->child : value;
}

static bool about_is_article(const cJSON *object)
{
    static const char *const kinds[] = {"Article", "Posting", "WebPage", "Question", "Recipe", "Report"};
    struct piece type = about_text_of(about_first_of(cJSON_GetObjectItemCaseSensitive(object, "@type")));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (memmem(type.at, type.length, kinds[i], strlen(kinds[i])))
            return true;
    return false;
}

static void about_read_object(struct about *about, const cJSON *object)
{
    const cJSON *author = about_first_of(cJSON_GetObjectItemCaseSensitive(object, "author"));
    if (!about_is_article(object))
        return;
    about_keep(&about->title, 2, about_text_of(cJSON_GetObjectItemCaseSensitive(object, "headline")));
    about_keep_date(about, 2, about_text_of(cJSON_GetObjectItemCaseSensitive(object, "datePublished")));
    about_keep(&about->language, 2, about_text_of(cJSON_GetObjectItemCaseSensitive(object, "inLanguage")));
    about_keep_byline(
        about, 2, about_text_of(cJSON_IsObject(author) ? cJSON_GetObjectItemCaseSensitive(author, "name") : author));
}

/* An object, a list of objects, or an object with a list of objects in "@graph". */
static void about_read_json(struct about *about, struct piece script)
{
    static const struct json_limits limits = {.depth = JSON_DEPTH, .bytes = JSON_MAX, .values = 8192};
    struct status st = {0};
    script = piece_trim(script);
    cJSON *root = script.length <= JSON_MAX ? json_parse(script.at, script.length, &limits, &st) : NULL;
    const cJSON *graph = cJSON_GetObjectItemCaseSensitive(root, "@graph");
    const cJSON *list = cJSON_IsArray(graph) ? graph : root, *object;
    unsigned count = 0;
    if (cJSON_IsObject(root))
        about_read_object(about, root);
    if (cJSON_IsArray(list))
        cJSON_ArrayForEach(object, list) if (cJSON_IsObject(object) && count++ < JSON_OBJECTS)
            about_read_object(about, object);
    cJSON_Delete(root);
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static void about_read_meta(struct about *about, struct piece attributes)
{
    struct piece name, value, key = {"", 0}, content = {"", 0};
    while (html_attribute(&attributes, &name, &value)) {
        if (piece_is_word(name, "content"))
            content = value;
        else if (!key.length && (piece_is_word(name, "name") || piece_is_word(name, "property") ||
                                 piece_is_word(name, "itemprop") || piece_is_word(name, "http-equiv")))
            key = value;
    }
    if (piece_is_word(key, "twitter:label1"))
        about->is_written_by = piece_is_word(content, "written by");
    if (piece_is_word(key, "twitter:data1") && !about->is_written_by)
        return;
    for (size_t i = 0; i < sizeof metas / sizeof metas[0]; i++) {
        if (!piece_is_word(key, metas[i].name))
            continue;
        if (metas[i].property == offsetof(struct about, published))
            about_keep_date(about, metas[i].rank, content);
        else if (metas[i].property == offsetof(struct about, byline))
            about_keep_byline(about, metas[i].rank, content);
        else
            about_keep((struct finding *)((char *)about + metas[i].property), metas[i].rank, content);
    }
}

static void about_read_attribute(struct about *about, const struct html_token *token, const char *wanted)
{
    struct piece attributes = token->attributes, name, value;
    while (html_attribute(&attributes, &name, &value)) {
        if (!piece_is_word(name, wanted))
            continue;
        if (strcmp(wanted, "lang") == 0)
            about_keep(&about->language, 1, value);
        else
            about_keep_date(about, 7, value);
    }
}

static bool about_is_json(struct piece attributes)
{
    return memmem(attributes.at, attributes.length, "ld+json", 7);
}

static void about_read_elements(struct about *about, struct piece page)
{
    struct html_tokens tokens = html_tokens_of(page);
    struct html_token token;
    while (html_next(&tokens, &token)) {
        if (token.kind != HTML_START)
            continue;
        if (piece_is_word(token.text, "meta"))
            about_read_meta(about, token.attributes);
        else if (piece_is_word(token.text, "html"))
            about_read_attribute(about, &token, "lang");
        else if (piece_is_word(token.text, "time"))
            about_read_attribute(about, &token, "datetime");
        else if (piece_is_word(token.text, "script") && about_is_json(token.attributes)) {
            const char *from = tokens.at;
            bool more = html_next(&tokens, &token);
            const char *to = more ? token.text.at - 2 : tokens.end;
            about_read_json(about, (struct piece){from, to > from ? (size_t)(to - from) : 0});
        }
    }
}

static void about_read_nodes(struct about *about)
{
    char text[DOCUMENT_TITLE_MAX];
    unsigned tried = 0;
    for (uint32_t i = 1; i < about->tree->count && tried < NODES_TRIED; i++) {
        const struct html_node *node = &about->tree->nodes[i];
        bool is_short =
            node->is_block ? node->all_text && node->all_text < BYLINE_TEXT : node->to - node->from < BYLINE_BYTES;
        bool byline = !about->byline.rank && (node->hints & HINT_AUTHOR) && is_short;
        if (!byline && (node->tag != TAG_H1 || about->heading.rank) && node->tag != TAG_TITLE)
            continue;
        tried++;
        size_t length = html_node_text(about->tree, i, text, sizeof text);
        struct piece found = {text, text_cut(text, length, sizeof text - 1)};
        if (byline)
            about_keep_byline(about, 6, found);
        else if (node->tag == TAG_H1)
            about_keep(&about->heading, 1, found);
        else
            about_keep(&about->title, 5, found);
    }
}

/* The title element often ends with the name of the site: the first heading tells how far the title goes. */
static const char *about_choose_title(struct about *about)
{
    char *title = about->title.text;
    const char *heading = about->heading.text;
    size_t length = strlen(heading);
    if (!title[0])
        return heading;
    if (length > 3 && strncmp(title, heading, length) == 0)
        title[length] = '\0';
    size_t site = strlen(about->site.text), whole = strlen(title);
    if (site && whole > site + 3 && strcmp(title + whole - site, about->site.text) == 0) {
        whole -= site;
        while (whole && strchr(" -|:", title[whole - 1]))
            whole--;
        title[whole] = '\0';
    }
    return title;
}

static const char *about_kept(struct arena *arena, const char *text, size_t room)
{
    const char *copy = arena_strndup(arena, text, text_cut(text, strlen(text), room));
    return copy ? copy : "";
}

void html_about_read(struct page_about *out, struct arena *arena, const struct html_tree *tree)
{
    struct about about = {.tree = tree};
    about_read_elements(&about, tree->page);
    about_read_nodes(&about);
    *out = (struct page_about){
        .title = about_kept(arena, about_choose_title(&about), DOCUMENT_TITLE_MAX),
        .byline = about_kept(arena, about.byline.text, PAGE_BYLINE_MAX),
        .published = about_kept(arena, about.published.text, PAGE_DATE_MAX),
        .language = about_kept(arena, about.language.text, PAGE_LANGUAGE_MAX),
    };
}
