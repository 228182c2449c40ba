/* The attacks: one row is one kind of text, made as long as it is wanted. */
#include "doubling.h"

#include <stdio.h>
#include <string.h>

#define TEXT       HOSTILE_TEXT
#define MARKUP     HOSTILE_MARKUP
#define JSON       HOSTILE_JSON
#define TABLE      HOSTILE_TABLE
#define STREAM     HOSTILE_STREAM
#define HEAD       HOSTILE_HEAD
#define EXPRESSION HOSTILE_EXPRESSION
#define BYTES      HOSTILE_BYTES
#define FIELD      HOSTILE_FIELD

const struct generator generators[] = {
    /* lists and marks */
    {"bullets", TEXT, .unit = "• "},
    {"bullets without blanks", TEXT, .unit = "•"},
    {"two kinds of bullets", TEXT, .unit = "• ● "},
    {"middle dots", TEXT, .unit = "・ "},
    {"bullets on lines", TEXT, .unit = "•\n"},
    {"items", TEXT, .unit = "- a\n"},
    {"numbers of items", TEXT, .unit = "1. "},
    {"numbered items", TEXT, .unit = "\1. a "},
    {"letters of items", TEXT, .unit = "a. b) "},
    {"quoted lines", TEXT, .unit = "> "},
    {"headings", TEXT, .unit = "# a\n"},
    {"hashes", TEXT, .unit = "#"},
    {"rows", TEXT | TABLE, .unit = "| a | b |\n"},
    {"underlines", TEXT, .unit = "a\n=\n"},
    {"rules", TEXT, .unit = "---\n"},
    {"a fence with a long line", TEXT, .begin = "```\n", .unit = "a"},
    {"fences", TEXT, .unit = "```\n"},
    {"fences in fences", TEXT, .begin = "````\n", .unit = "```\n"},
    {"backticks", TEXT, .unit = "`"},
    /* lines */
    {"newlines", TEXT | TABLE | STREAM, .unit = "\n"},
    {"newlines between words", TEXT | MARKUP, .begin = "a", .unit = "\n", .end = "a"},
    {"newlines within a block", TEXT, .begin = "[1] a.md:1-2 | A\nx", .unit = "\n", .end = "x"},
    {"carriage returns", TEXT | STREAM, .unit = "\r"},
    {"lines", TEXT | TABLE | STREAM, .unit = "a\n"},
    {"a long line, then lines", TEXT | TABLE | MARKUP, .unit = "a", .middle = "\n", .close = "b\n"},
    {"lines, then a long line", TEXT | TABLE, .unit = "b\n", .close = "a"},
    {"empty lines between words", TEXT, .unit = "a\n\n"},
    {"blocks of a search", TEXT, .unit = "[1] a.md:3-9 (0.62) | A\nport\n\n"},
    {"lines that announce", TEXT, .unit = "a:\n\n"},
    {"blanks", TEXT | TABLE | FIELD, .unit = " "},
    {"a word, blanks", TEXT | TABLE, .begin = "a", .unit = " "},
    {"tabs", TEXT | TABLE, .unit = "\t"},
    {"wide blanks", TEXT, .unit = "　"},
    {"lines of blanks", TEXT | STREAM, .unit = "        \n"},
    /* words */
    {"one long word", TEXT | JSON | STREAM | HEAD | EXPRESSION | FIELD, .unit = "a"},
    {"capitals", TEXT, .unit = "A"},
    {"words", TEXT, .unit = "a "},
    {"words that differ", TEXT, .unit = "w\1 "},
    {"sentences", TEXT, .unit = "Port \1 is open. "},
    {"a heading of sentences", TEXT, .begin = "# ", .unit = "Is \1 it? "},
    {"joined words", TEXT | FIELD, .unit = "a-"},
    {"words at dots", TEXT | FIELD, .unit = "a."},
    {"abbreviations", TEXT, .unit = "e.g. A. "},
    {"and", TEXT, .unit = "how and "},
    {"coordinated clauses", TEXT, .begin = "How do I ", .unit = "open it and "},
    {"digits", TEXT | EXPRESSION | HEAD | FIELD, .unit = "7"},
    {"digits and commas", TEXT, .unit = "777,"},
    {"addresses", TEXT, .unit = "https://a/\1 "},
    {"beginnings of addresses", TEXT, .unit = "http"},
    /* Japanese */
    {"Hiragana without a stop", TEXT | FIELD, .unit = "あ"},
    {"Katakana without a stop", TEXT, .unit = "ア"},
    {"Han without a stop", TEXT, .unit = "漢"},
    {"Han and kana", TEXT, .unit = "漢あ"},
    {"Japanese sentences", TEXT, .unit = "設定は開きます。"},
    {"things joined", TEXT, .unit = "甲と"},
    {"clauses joined", TEXT, .unit = "、また、"},
    {"opening quotes", TEXT, .unit = "「"},
    {"empty quotes", TEXT, .unit = "「」"},
    {"nested quotes", TEXT, .unit = "「", .close = "」"},
    {"wide brackets", TEXT, .unit = "（"},
    {"voicing marks", TEXT, .begin = "か", .unit = "\xE3\x82\x99"},
    /* punctuation */
    {"stops", TEXT, .unit = "."},
    {"spaced stops", TEXT, .unit = ". "},
    {"Japanese stops", TEXT, .unit = "。"},
    {"ellipses", TEXT, .unit = "…"},
    {"stops and quotes", TEXT, .unit = ". \" "},
    {"brackets", TEXT | JSON | EXPRESSION, .unit = "("},
    {"square brackets", TEXT | JSON | FIELD, .unit = "["},
    {"nested brackets", TEXT | JSON | EXPRESSION, .unit = "(", .close = ")"},
    {"references", TEXT, .unit = "[1] "},
    {"braces", TEXT | JSON, .unit = "{"},
    {"doubled braces", TEXT, .unit = "{{"},
    {"quotes", TEXT | TABLE | JSON | HEAD | FIELD, .unit = "\""},
    {"apostrophes", TEXT, .unit = "'"},
    {"backslashes", TEXT | JSON, .unit = "\\"},
    {"dashes", TEXT | EXPRESSION, .unit = "-"},
    {"stars", TEXT, .unit = "*"},
    /* characters */
    {"accents on one letter", TEXT, .begin = "e", .unit = "\xCC\x81"},
    {"letters that become many", TEXT, .unit = "\xEF\xB7\xBA"},
    {"soft hyphens", TEXT, .unit = "\xC2\xAD"},
    {"emoji", TEXT, .unit = "\xF0\x9F\x98\x80"},
    {"bytes that are no UTF-8", BYTES, .unit = "\xFF"},
    {"half characters", BYTES, .unit = "\xE3\x81"},
    {"Shift_JIS", BYTES, .unit = "\x82\xA0"},
    /* tags */
    {"tags that open", TEXT | MARKUP, .unit = "<i>"},
    {"tags that close", TEXT | MARKUP, .unit = "</b>"},
    {"open tags, then others that close", MARKUP, .unit = "<i>", .close = "</b>"},
    {"open blocks, then others that close", MARKUP, .unit = "<div>", .close = "</b>"},
    {"open blocks, then other blocks that close", MARKUP, .unit = "<div>", .close = "</p>"},
    {"open cells, then other blocks that close", MARKUP, .unit = "<td>", .close = "</h1>"},
    {"open tags, then text", MARKUP, .unit = "<i>", .close = "a"},
    {"blocks in blocks", MARKUP, .unit = "<div>", .close = "</div>"},
    {"tables in tables", MARKUP, .unit = "<table><tr><td>"},
    {"lists in lists", MARKUP, .unit = "<ul><li>"},
    {"paragraphs that stay open", MARKUP, .unit = "<p>a"},
    {"fonts around paragraphs", MARKUP, .unit = "<font><p>"},
    {"anchors", MARKUP, .unit = "<a href=x>"},
    {"formatting, then paragraphs", MARKUP, .unit = "<b>", .close = "<p>a"},
    {"formatting, then text", MARKUP, .unit = "<b>", .close = "a<br>"},
    {"forms", MARKUP, .unit = "<form><input>"},
    {"selections", MARKUP, .unit = "<select><option>"},
    {"unknown tags", MARKUP, .unit = "<x\1>"},
    {"left out", MARKUP, .unit = "<nav>"},
    {"ends of what is left out", MARKUP, .begin = "<svg>", .unit = "<nav></nav></i>"},
    {"scripts", MARKUP, .unit = "<script>"},
    {"ends of tags in a script", MARKUP, .begin = "<script>", .unit = "</"},
    {"preformatted", MARKUP, .unit = "<pre>\n"},
    {"breaks", MARKUP, .unit = "<br>"},
    {"headings of HTML", MARKUP, .unit = "<h1>a</h1>"},
    {"headings that stay open", MARKUP, .unit = "<h1>a"},
    {"attributes of one tag", MARKUP, .begin = "<i ", .unit = "a\1=b ", .end = ">"},
    {"one attribute many times", MARKUP, .begin = "<i ", .unit = "a=b ", .end = ">"},
    {"a tag of many letters", MARKUP, .begin = "<", .unit = "a", .end = ">"},
    {"an attribute of many letters", MARKUP, .begin = "<i a=\"", .unit = "a", .end = "\">"},
    {"beginnings of tags", MARKUP, .unit = "<"},
    {"beginnings of ends", MARKUP, .unit = "</"},
    {"ends of fences", TEXT | MARKUP, .unit = "</results>"},
    {"fences of prompts", TEXT | MARKUP, .unit = "<results>", .close = "</results>"},
    {"comments", MARKUP, .unit = "<!---->"},
    {"a comment that stays open", MARKUP, .begin = "<!--", .unit = "-"},
    {"beginnings of comments", MARKUP, .unit = "<!--"},
    {"declarations", MARKUP, .unit = "<!a"},
    {"instructions", MARKUP, .unit = "<?a "},
    {"sections", MARKUP, .unit = "<![CDATA["},
    {"entities", MARKUP, .unit = "&amp;"},
    {"unknown entities", MARKUP, .unit = "&a\1;"},
    {"ampersands", MARKUP, .unit = "&"},
    {"numbers of characters", MARKUP, .unit = "&#x41;"},
    {"an entity of many letters", MARKUP, .begin = "&", .unit = "a"},
    {"bodies", MARKUP, .unit = "<body a=b>"},
    {"frames", MARKUP, .unit = "<html><head><title>"},
    /* JSON */
    {"an array of numbers", JSON, .begin = "[0", .unit = ",1", .end = "]"},
    {"an array of texts", JSON, .begin = "[0", .unit = ",\"a\"", .end = "]"},
    {"an array of empty objects", JSON, .begin = "[0", .unit = ",{}", .end = "]"},
    {"an array of arrays", JSON, .begin = "[0", .unit = ",[[1]]", .end = "]"},
    {"nested arrays", JSON, .unit = "[", .close = "]"},
    {"nested objects", JSON, .unit = "{\"a\":", .middle = "1", .close = "}"},
    {"keys that differ", JSON, .begin = "{\"\":0", .unit = ",\"k\1\":1", .end = "}"},
    {"one key many times", JSON, .begin = "{\"\":0", .unit = ",\"k\":1", .end = "}"},
    {"keys with escapes", JSON, .begin = "{\"\":0", .unit = ",\"\\u006b\1\":1", .end = "}"},
    {"keys that differ in the middle", JSON, .begin = "{\"\":0", .unit = ",\"aaaaaaaaaa\1bbbbbbbbbb\":1", .end = "}"},
    {"objects with many keys", JSON, .begin = "[0",
     .unit = ",{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8}", .end = "]"},
    {"a long text", JSON, .begin = "\"", .unit = "a", .end = "\""},
    {"a text of escapes", JSON, .begin = "\"", .unit = "\\n", .end = "\""},
    {"a text of surrogates", JSON, .begin = "\"", .unit = "\\ud83d\\ude00", .end = "\""},
    {"a text of quotes", JSON, .begin = "\"", .unit = "\\\"", .end = "\""},
    {"a long number", JSON, .unit = "1"},
    {"blanks in JSON", JSON, .begin = "[", .unit = " ", .end = "]"},
    {"comments of JSON", JSON, .begin = "[", .unit = "/**/", .end = "]"},
    {"comments that stay open", JSON, .begin = "[", .unit = "/*", .end = "]"},
    {"commas", JSON, .begin = "[", .unit = ",", .end = "]"},
    /* tables */
    {"separators", TABLE | FIELD, .unit = ","},
    {"semicolons", TABLE, .unit = ";"},
    {"a quoted cell", TABLE, .begin = "\"", .unit = "a", .end = "\"\n"},
    {"doubled quotes", TABLE, .begin = "\"", .unit = "\"\"", .end = "\"\n"},
    {"quoted lines of a cell", TABLE, .begin = "a,\"", .unit = "b\n", .end = "\"\n"},
    {"pairs", TABLE, .begin = "question,answer\n", .unit = "what \1,\"it\"\n"},
    {"quotes that stay open", TABLE, .begin = "question,answer\n", .unit = "\"a\n"},
    /* streams */
    {"events", STREAM, .unit = "data: {}\n\n"},
    {"lines of one event", STREAM, .unit = "data: a\n"},
    {"one line", STREAM, .begin = "data: ", .unit = "a"},
    {"comments of a stream", STREAM, .unit = ":\n"},
    {"fields that are not known", STREAM, .unit = "a: b\r\n"},
    {"ids", STREAM, .unit = "id: \1\nretry: 1\nevent: a\n"},
    {"objects on lines", STREAM, .unit = "{\"a\":1}\n"},
    /* heads */
    {"fields", HEAD, .begin = "GET / HTTP/1.1\r\nHost: a\r\n", .unit = "A\1: b\r\n", .end = "\r\n"},
    {"one field many times", HEAD, .begin = "GET / HTTP/1.1\r\nHost: a\r\n", .unit = "A: b\r\n", .end = "\r\n"},
    {"a long target", HEAD, .begin = "GET /", .unit = "a", .end = " HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"a query", HEAD, .begin = "GET /?", .unit = "a=\1&", .end = " HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"an encoded path", HEAD, .begin = "GET /", .unit = "%2f", .end = " HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"options of a connection", HEAD, .begin = "GET / HTTP/1.1\r\nHost: a\r\nConnection: ", .unit = "a, ",
     .end = "\r\n\r\n"},
    {"chunks", HEAD, .begin = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", .unit = "1\r\na\r\n",
     .end = "0\r\n\r\n"},
    {"empty lines before a request", HEAD, .unit = "\r\n", .end = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"trailers", HEAD, .begin = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
     .unit = "A: b\r\n", .end = "\r\n"},
    {"informational answers", HEAD, .unit = "HTTP/1.1 103 A\r\nLink: a\r\n\r\n"},
    /* one value */
    {"words of a list", FIELD, .unit = "a,"},
    {"words of a list that differ", FIELD, .unit = "a\1,"},
    {"pairs of a list", FIELD, .unit = "a\1=b,"},
    {"escapes in percent", FIELD, .unit = "%61"},
    {"slashes", FIELD, .unit = "/"},
    {"colons", FIELD, .unit = ":"},
    {"stars and dots", FIELD, .unit = "*."},
    {"pieces between underscores", FIELD, .unit = "a__"},
    /* expressions */
    {"sums", EXPRESSION, .begin = "1", .unit = "+1"},
    {"powers", EXPRESSION, .begin = "1", .unit = "^1"},
    {"calls", EXPRESSION, .unit = "abs(", .middle = "1", .close = ")"},
    {.name = NULL},
};

/* ---- filling ----------------------------------------------------------------------------------------------------- */

static void append_numbered(const char *unit, size_t number, struct buffer *out)
{
    for (const char *mark; (mark = strchr(unit, 1)); unit = mark + 1) {
        buffer_append(out, unit, (size_t)(mark - unit));
        buffer_printf(out, "%zu", number);
    }
    buffer_print(out, unit);
}

/* The present text is copied to its end, twice as much each time. */
static void repeat_alike(const char *unit, size_t count, struct buffer *out)
{
    size_t length = strlen(unit), all = count * length;
    char *to = length ? buffer_reserve(out, all) : NULL;
    if (!to)
        return;
    memcpy(to, unit, length);
    for (size_t done = length; done < all;) {
        size_t step = done < all - done ? done : all - done;
        memcpy(to + done, to, step);
        done += step;
    }
    out->length += all;
}

static void hostile_repeat(const char *unit, size_t count, struct buffer *out)
{
    if (!strchr(unit, 1)) {
        repeat_alike(unit, count, out);
        return;
    }
    for (size_t i = 0; i < count; i++)
        append_numbered(unit, i, out);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

void generator_fill(const struct generator *generator, size_t size, struct buffer *out)
{
    const char *unit = or_empty(generator->unit), *close = or_empty(generator->close);
    size_t each = strlen(unit) + strlen(close), count = each && size > each ? size / each : 1;
    buffer_print(out, or_empty(generator->begin));
    hostile_repeat(unit, count, out);
    buffer_print(out, or_empty(generator->middle));
    hostile_repeat(close, count, out);
    buffer_print(out, or_empty(generator->end));
    buffer_text(out);
}
