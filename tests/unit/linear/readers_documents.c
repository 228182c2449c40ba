/* services/tool_runner/documents. */
#include "readers.h"

#include "documents/document.h"
#include "documents/encoding.h"
#include "tools/page_kind.h"
#include "tools/robots.h"

#define FORMAT(name)                                                                                                   \
    &(const Renga__V1__DocumentFormat)                                                                                 \
    {                                                                                                                  \
        RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_##name                                                             \
    }

static void documents_read(struct input *in)
{
    struct document document;
    document_read(&document, *(const Renga__V1__DocumentFormat *)in->with, in->text, in->length, &in->st);
    document_fini(&document);
}

static void read_web_page(struct input *in)
{
    struct document document;
    struct page_about about;
    document_read_page(&document, &about, in->text, in->length, &in->st);
    document_fini(&document);
}

#define SENTENCE "<p>A paragraph of the page, with commas, that is long enough to count.</p>"

/* Elements that are never closed before, around and beside paragraphs. */
static const struct generator pages[] = {
    {"inline elements never closed, then paragraphs", .unit = "<span>", .middle = SENTENCE, .close = SENTENCE},
    {"blocks never closed, then bodies", .unit = "<div>", .close = "<div class=entry-content>" SENTENCE "</div>"},
    {"headings in headings", .unit = "<h1><h2>"},
    {"bylines in bylines", .unit = "<div class=author>", .end = "://"},
    {"articles in articles", .unit = "<article class=post-body>" SENTENCE},
    {"teasers", .unit = "<div><h2><a href=x>A heading that is a link</a></h2>" SENTENCE "</div>"},
    {"a long class and many siblings", .begin = "<div><div class='", .unit = "abc ", .middle = "'>" SENTENCE "</div>",
     .close = "<div class=x>" SENTENCE "</div>"},
    {"classes of many words", .unit = "<div class='post-content-related-share-body-text-x-y'>"},
    {"metadata in many pieces",
     .unit = "<script type=ld+json>{\"@type\": \"Article\"}</script><meta name=author content=:// >"},
    {.name = NULL},
};

static void guess_encoding(struct input *in)
{
    const char *clean;
    size_t clean_length;
    encoding_read(in->text, in->length, &in->out, &clean, &clean_length, &in->st);
}

static void read_encoding(struct input *in)
{
    encoding_read_named(in->with, in->text, in->length, &in->out);
}

static void decode_page(struct input *in)
{
    struct page_kind kind;
    const char *clean;
    size_t clean_length;
    page_kind_read(&kind, in->text, "/");
    page_decode(&kind, in->text, in->length, &in->out, &clean, &clean_length, &in->st);
}

static void read_robots(struct input *in)
{
    robots_allow(in->text, in->length, "renga",
                 "/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?b=c");
}

static const struct generator robots[] = {
    {"rules that match", .begin = "User-agent: *\n", .unit = "Disallow: /a*a\n"},
    {"stars", .begin = "User-agent: renga\nDisallow: ", .unit = "*a", .end = "$\n"},
    {"many stars in many rules", .begin = "User-agent: renga\n", .unit = "Disallow: *a*a*a*a*a*a*a*a*a*b$\n"},
    {"groups", .unit = "User-agent: renga\nAllow: /\n"},
    {.name = NULL},
};

const struct reader readers_documents[] = {
    {"Markdown", documents_read, .sets = HOSTILE_TEXT, .with = FORMAT(MARKDOWN)},
    {"HTML", documents_read, .sets = HOSTILE_TEXT | HOSTILE_MARKUP, .with = FORMAT(HTML)},
    {"HTML by its main content", read_web_page, .sets = HOSTILE_TEXT | HOSTILE_MARKUP, .own = pages},
    {"CSV", documents_read, .sets = HOSTILE_TEXT | HOSTILE_TABLE, .with = FORMAT(CSV)},
    {"plain text", documents_read, .sets = HOSTILE_TEXT, .with = FORMAT(TEXT)},
    {"encoding that is guessed", guess_encoding, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"Shift_JIS", read_encoding, .sets = HOSTILE_BYTES, .with = "shift_jis"},
    {"ISO-2022-JP", read_encoding, .sets = HOSTILE_BYTES, .with = "iso-2022-jp"},
    {"page", decode_page, .sets = HOSTILE_BYTES | HOSTILE_MARKUP},
    {"robots.txt", read_robots, .sets = HOSTILE_TEXT | HOSTILE_BYTES, .own = robots, .most = (size_t)384 << 10},
    {.name = NULL},
};
