/* A question of several parts becomes several questions: by sentences and list items first, then by comparisons,
 * clauses and enumerations in each. A question stays whole if its parts would not stand alone. */
#include "split_priv.h"

#include "base/text.h"
#include "words/sentences.h"
#include "words/words.h"

#include <string.h>
#include <strings.h>

#define PIECES_MAX  32
#define CONTEXT_MAX ((size_t)300) /* bytes of a statement that is put before the question behind it */

LIST(japanese_ends, "？", "?", "か", "か。", "ください", "ください。", "下さい", "下さい。", "たい", "たい。",
     "たいです。", "教えて", "教えて。", "は", "は。");
LIST(english_begins, "what", "how", "where", "when", "who", "which", "why", "is ", "are ", "do ", "does ", "can ",
     "could ", "should ", "will ", "tell ", "explain", "describe", "list ", "show ", "give ", "compare", "find ",
     "please", "summari");

void split_add(struct split *split, struct text part)
{
    part = text_trimmed(part);
    if (!part.length)
        return;
    for (size_t i = 0; i < split->count; i++)
        if (text_equal(split->parts[i], part))
            return;
    if (split->count < split->limit)
        split->parts[split->count++] = part;
    else if (split->parts[split->count - 1].length + part.length < EXTRACT_ASKED_MAX)
        split->parts[split->count - 1] = text_joined(split->arena, split->parts[split->count - 1], text_of(" "), part);
}

/* ---- sentences and items ----------------------------------------------------------------------------------------- */

struct piece {
    struct text text;
    bool item, asks;
};

static bool split_asks_in_english(struct text text)
{
    if (split_match_before(text, text.length, (const char *const[]){"?", NULL}))
        return true;
    for (size_t i = 0; english_begins[i]; i++)
        if (text.length >= strlen(english_begins[i]) &&
            strncasecmp(text.bytes, english_begins[i], strlen(english_begins[i])) == 0)
            return true;
    return false;
}

/* Whether the line of `at` begins with the mark of a list's item. */
static bool split_is_item(struct text text, size_t at)
{
    size_t line = at;
    while (line > 0 && text.bytes[line - 1] != '\n')
        line--;
    while (line < text.length && (text.bytes[line] == ' ' || text.bytes[line] == '\t'))
        line++;
    size_t digits = line;
    while (digits < text.length && text.bytes[digits] >= '0' && text.bytes[digits] <= '9')
        digits++;
    if (digits > line)
        return digits + 1 < text.length && (text.bytes[digits] == '.' || text.bytes[digits] == ')') &&
               !(text.bytes[digits + 1] >= '0' && text.bytes[digits + 1] <= '9');
    return text.length - line > 2 && ((strchr("-*+", text.bytes[line]) && text.bytes[line + 1] == ' ') ||
                                      split_match(text, line, "・") || split_match(text, line, "•"));
}

/* Without the mark of an item that a sentence keeps. */
static struct text without_mark(struct text text)
{
    size_t at = 0;
    while (at < text.length && text.bytes[at] >= '0' && text.bytes[at] <= '9')
        at++;
    if (at && at + 1 < text.length && (text.bytes[at] == '.' || text.bytes[at] == ')') && text.bytes[at + 1] == ' ')
        at++;
    else
        at = 0;
    if (!at)
        at = split_match_any(text, 0, (const char *const[]){"・", "•", "- ", "* ", NULL});
    return text_trimmed(split_part(text, at, text.length));
}

static struct text split_on_one_line(struct arena *arena, struct text text)
{
    if (!memchr(text.bytes, '\n', text.length))
        return text;
    char *line = arena_copy(arena, text.bytes, text.length);
    if (!line)
        return text;
    for (size_t i = 0; i < text.length; i++)
        line[i] = line[i] == '\n' || line[i] == '\r' ? ' ' : line[i];
    return (struct text){line, text.length};
}

/* Whether a particle stands behind the full stop: it belongs to a name, as in 「君の名は。」と. */
static bool split_goes_on(struct text text, size_t at)
{
    static const char *const behind[] = {"の方",       "のほう", "のどちら", "のうち", "より",
                                         "ではどちら", "では、", "か、",     "ですか", "という",
                                         "とは",       "の",     "を",       "が",     NULL};
    static const char *const stops[] = {"。」", "？」", "！」", "。』", "？』", "！』", "。", "！", NULL};
    size_t length = split_match(text, at, "と");
    return split_match_before(text, at, stops) &&
           ((length && !split_is_hiragana(text, at + length)) || split_match_any(text, at, behind));
}

static size_t split_read_pieces(const struct split *split, struct text question, bool japanese,
                                struct piece pieces[PIECES_MAX])
{
    struct sentence_reader reader;
    struct span span;
    struct marked marked;
    size_t count = 0, begin = 0;
    bool open = false;
    mark_quoted(&marked, question);
    sentences_begin(&reader, question.bytes, question.length);
    while (sentences_next(&reader, &span)) {
        begin = open ? begin : span.begin;
        open = span.end < marked.text.length &&
               ((marked.quoted[span.end] && marked.quoted[span.end - 1]) || split_goes_on(question, span.end));
        if (open)
            continue;
        bool full = count == PIECES_MAX - 1;
        bool item = split_is_item(question, begin);
        struct text text = split_part(question, begin, full ? question.length : span.end);
        text = split_on_one_line(split->arena, text_trimmed(item ? without_mark(text) : text));
        if (split_is_greeting(text))
            continue;
        text = split_without_greeting(text);
        bool asks = japanese ? split_match_before(text, text.length, japanese_ends) > 0 : split_asks_in_english(text);
        pieces[count++] = (struct piece){.text = text, .item = item, .asks = asks};
        if (full)
            break;
    }
    return count;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* Whether the part has a word that tells its subject; in Japanese, a Latin letter is a name: 「Aは何？」. */
static bool split_stands_alone(struct text part, bool japanese)
{
    struct term_reader reader;
    struct term term;
    for (size_t i = 0; japanese && i < part.length; i++)
        if ((part.bytes[i] >= 'A' && part.bytes[i] <= 'Z') || (part.bytes[i] >= 'a' && part.bytes[i] <= 'z'))
            return true;
    terms_begin(&reader, part.bytes, part.length);
    while (terms_next(&reader, &term))
        if (!term.stop_word)
            return true;
    return false;
}

static void split_piece(struct split *split, struct text context, struct text question, bool japanese)
{
    struct text own[EXTRACT_PARTS_MAX];
    struct split inner = {
        .arena = split->arena, .parts = own, .limit = split->limit, .language = split->language, .topic = split->topic};
    if (japanese)
        split_japanese(&inner, question);
    else
        split_english(&inner, question);
    bool first = !split->count;
    for (size_t i = 0; i < inner.count; i++) {
        struct text part = own[i];
        if (!first && !inner.apart && !split->topic.length && japanese && split_lacks_subject(part))
            split->leans = true;
        if ((!first || i > 0) && !inner.apart && !split->topic.length && !japanese && split_has_pronoun(part))
            split->leans = true;
        if (split->topic.length && !inner.apart)
            part = japanese ? carry_japanese(split, part) : carry_english(split, part);
        else if (!split->topic.length)
            split->topic = japanese ? topic_japanese(part) : topic_english(part);
        split->apart |= inner.apart;
        split_add(split, text_joined(split->arena, context, text_of(context.length && !japanese ? " " : ""), part));
    }
}

/* English: "And how …" without its opening; a part that depends on the sentence before it adds no part of its own. */
static struct text without_and(struct split *split, struct text text)
{
    split->leans |= split->count && split_leans(text);
    size_t length = split->count && strncasecmp(text.bytes, "and ", text.length < 4 ? text.length : 4) == 0 ? 4 : 0;
    return split_part(text, length, text.length);
}

static struct text lead_of(struct text text)
{
    size_t length;
    while ((length = split_match_before(text, text.length, (const char *const[]){":", "：", "。", NULL})))
        text.length -= length;
    return text;
}

/* 「どちらが高いですか？AとB」, 「AとBがあります。どちらが高いですか？」 */
static bool split_is_divided(struct text first, struct text second)
{
    static const char *const whiches[] = {"どちら", "どっち", NULL};
    return (split_match_any(first, 0, whiches) && !split_has(second, whiches)) ||
           (split_match_any(second, 0, whiches) && !split_has(first, whiches));
}

static void split_pieces(struct split *split, const struct piece *pieces, size_t count, bool japanese)
{
    struct text context = {"", 0};
    bool any_asks = false, any_items = false;
    for (size_t i = 0; i < count; i++) {
        any_asks |= pieces[i].asks;
        any_items |= pieces[i].item;
    }
    if (japanese && count == 2 && split_is_divided(pieces[0].text, pieces[1].text) &&
        contrast_japanese(split, text_joined(split->arena, pieces[0].text, pieces[1].text, text_of(""))))
        return;
    for (size_t i = 0; i < count; i++) {
        bool leads = any_items && !pieces[i].item && i + 1 < count && pieces[i + 1].item;
        if (leads) {
            context = text_joined(split->arena, lead_of(pieces[i].text), text_of(japanese ? "：" : ":"), text_of(""));
            split->topic.length = 0;
        } else if (any_asks && !pieces[i].asks && !pieces[i].item) {
            if (pieces[i].text.length <= CONTEXT_MAX)
                context = pieces[i].text;
        } else {
            split_piece(split, context,
                        japanese || pieces[i].item ? pieces[i].text : without_and(split, pieces[i].text), japanese);
        }
    }
}

/* Comparisons, and in European languages questions joined by "and". */
static void split_other_piece(struct split *split, struct text one)
{
    bool is = split->language == LANGUAGE_ZH   ? contrast_chinese(split, one)
              : split->language == LANGUAGE_KO ? contrast_korean(split, one)
                                               : contrast_european(split, one) || split_european(split, one);
    if (!is)
        split_add(split, one);
}

/* Several sentences that all ask, each with a subject of its own; else the text stays whole. */
static void split_other(struct split *split, struct text question)
{
    struct piece pieces[PIECES_MAX];
    size_t count = split_read_pieces(split, question, false, pieces);
    bool apart = count > 1 && !(count == 2 && contrast_is_choice(pieces[1].text, split->language));
    for (size_t i = 0; apart && i < count; i++)
        apart = split_match_before(pieces[i].text, pieces[i].text.length, (const char *const[]){"?", "？", NULL}) &&
                (!i || split_has_subject(pieces[i].text, split->language));
    if (apart) {
        for (size_t i = 0; i < count; i++)
            split_other_piece(split, pieces[i].text);
        return;
    }
    struct text one = split_without_greeting(split_on_one_line(split->arena, text_trimmed(question)));
    size_t before = split->count;
    split_other_piece(split, one);
    if (split->count == before + 1)
        split->parts[before] = question;
}

size_t extract_split(struct arena *arena, struct text question, bool japanese, size_t limit,
                     struct text parts[EXTRACT_PARTS_MAX])
{
    struct piece pieces[PIECES_MAX];
    struct split split = {.arena = arena,
                          .parts = parts,
                          .limit = limit < EXTRACT_PARTS_MAX ? limit : EXTRACT_PARTS_MAX,
                          .language = split_language(question, japanese)};
    bool is_japanese = split.language == LANGUAGE_JA;
    if (split.limit < 2) {
        split_add(&split, question);
        return split.count;
    }
    if (!is_japanese && split.language != LANGUAGE_EN) {
        split_other(&split, question);
    } else {
        size_t count = split_read_pieces(&split, question, is_japanese, pieces);
        split_pieces(&split, pieces, count, is_japanese);
    }
    bool alone = split.count > 0 && !split.leans;
    for (size_t i = 0; split.count > 1 && !split.apart && i < split.count; i++)
        alone &= split_stands_alone(parts[i], is_japanese);
    if (!alone) {
        split.count = 0;
        split.apart = false;
        if (split.language != LANGUAGE_EN || !contrast_european(&split, question)) /* "What does A cost? And B?" */
            split_add(&split, question);
    }
    return split.count;
}
