/* The parts of a model's draft: fences and small talk around it are left out, headings are known in Japanese and
 * English. */
#include "report_text.h"

#include <string.h>

#define UNWRAP_MAX     4             /* fences around each other */
#define SMALL_TALK_MAX ((size_t)400) /* bytes of a paragraph that is small talk */
#define ANALYSIS_LEVEL 3             /* of the sections of the analysis */
#define BOLD_LEVEL     7             /* a line in bold that is a heading */
#define WORDS_OF(set)  (sizeof(set) / sizeof *(set))

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static size_t split_line_end(const char *text, size_t length, size_t at)
{
    const char *found = at < length ? memchr(text + at, '\n', length - at) : NULL;
    return found ? (size_t)(found - text) : length;
}

/* How many marks the fence has that the line begins with; 0: it is no fence. */
static size_t split_fence(const char *text, size_t begin, size_t end)
{
    while (begin < end && (text[begin] == ' ' || text[begin] == '\t'))
        begin++;
    size_t marks = begin;
    while (marks < end && text[marks] == text[begin] && (text[begin] == '`' || text[begin] == '~'))
        marks++;
    return marks - begin >= 3 ? marks - begin : 0;
}

static bool split_is_blank(const char *text, size_t begin, size_t end)
{
    while (begin < end && strchr(" \t\r\n", text[begin]))
        begin++;
    return begin == end;
}

static int split_marks(const char *text, size_t begin, size_t end)
{
    int marks = 0;
    while (begin < end && text[begin] == '#') {
        marks++;
        begin++;
    }
    return marks <= 6 && begin < end && text[begin] == ' ' ? marks : 0;
}

/* "**Words**" alone on its line, with or without a colon. */
static bool split_is_bold(const char *text, size_t begin, size_t end)
{
    while (end > begin && strchr(" \t\r:", text[end - 1]))
        end--;
    return end - begin >= 5 && memcmp(text + begin, "**", 2) == 0 && memcmp(text + end - 2, "**", 2) == 0 &&
           !memmem(text + begin + 2, end - begin - 4, "**", 2);
}

/* ---- around the draft -------------------------------------------------------------------------------------------- */

static bool split_begins_with(const struct report_span *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        if (text->length >= length && strncasecmp(text->text, words[i], length) == 0)
            return true;
    }
    return false;
}

/* The fence has no language, or that of Markdown. */
static bool split_wraps(const char *text, size_t begin, size_t end)
{
    static const char *const languages[] = {"markdown", "md", "text", "txt"};
    while (begin < end && strchr(" \t`~", text[begin]))
        begin++;
    while (end > begin && strchr(" \t\r", text[end - 1]))
        end--;
    bool known = begin == end;
    for (size_t i = 0; i < WORDS_OF(languages); i++)
        known |= strlen(languages[i]) == end - begin && strncasecmp(languages[i], text + begin, end - begin) == 0;
    return known;
}

/* The last line that closes the fence around the draft, or the end of the text. A fence with a language opens a block
 * within the draft. */
static size_t split_last_fence(struct report_span text, size_t from, size_t marks, char mark)
{
    size_t last = text.length;
    bool inner = false;
    for (size_t at = from, end; at < text.length; at = end + 1) {
        end = split_line_end(text.text, text.length, at);
        size_t count = split_fence(text.text, at, end);
        size_t first = at + strspn(text.text + at, " \t");
        if (!count)
            continue;
        bool bare = split_is_blank(text.text, first + count, end);
        if (bare && !inner && count >= marks && text.text[first] == mark)
            last = at;
        inner = !bare;
    }
    return last;
}

/* A fence around the whole draft: no heading stands before it, and a heading is the first line in it. */
static bool split_unwrap_once(struct report_span *text)
{
    for (size_t at = 0, end; at < text->length; at = end + 1) {
        end = split_line_end(text->text, text->length, at);
        size_t marks = split_fence(text->text, at, end), next = end + 1;
        if (split_marks(text->text, at, end))
            return false;
        if (!marks)
            continue;
        char mark = text->text[at + strspn(text->text + at, " \t")];
        while (next < text->length && split_is_blank(text->text, next, split_line_end(text->text, text->length, next)))
            next = split_line_end(text->text, text->length, next) + 1;
        if (next >= text->length || !split_wraps(text->text, at, end))
            return false;
        size_t first = split_line_end(text->text, text->length, next);
        if (!split_marks(text->text, next, first) && !split_fence(text->text, next, first))
            return false;
        size_t last = split_last_fence(*text, next, marks, mark);
        *text = (struct report_span){text->text + next, last > next ? last - next : 0};
        return true;
    }
    return false;
}

/* "Sure, here is the report:" before the first heading. */
static void split_drop_greeting(struct report_span *text)
{
    static const char *const greetings[] = {
        "sure", "certainly", "of course",  "here is",  "here's", "below is", "absolutely", "okay",
        "はい", "承知",      "かしこまり", "もちろん", "了解",   "以下",     "ご依頼",     "それでは",
    };
    while (text->length) {
        size_t end = split_line_end(text->text, text->length, 0);
        bool blank = split_is_blank(text->text, 0, end);
        if (!blank && (end > SMALL_TALK_MAX || !split_begins_with(text, greetings, WORDS_OF(greetings))))
            return;
        size_t next = end < text->length ? end + 1 : end;
        text->text += next;
        text->length -= next;
    }
}

/* "Let me know if you need more." behind the last line. */
static void split_drop_farewell(struct report_span *text)
{
    static const char *const farewells[] = {
        "let me know", "please let me", "i hope", "feel free",    "if you need",    "if you'd", "if you would",
        "以上です",    "以上が",        "ご不明", "ご質問がある", "ご質問があれば", "お役に",   "他にご",
    };
    for (;;) {
        while (text->length && strchr(" \t\r\n", text->text[text->length - 1]))
            text->length--;
        const char *line = text->length ? memrchr(text->text, '\n', text->length) : NULL;
        struct report_span last = {line ? line + 1 : text->text, 0};
        last.length = text->length - (size_t)(last.text - text->text);
        if (!last.length || last.length > SMALL_TALK_MAX || !split_begins_with(&last, farewells, WORDS_OF(farewells)))
            return;
        text->length -= last.length;
    }
}

char *report_unwrap(struct arena *arena, const char *draft)
{
    struct report_span text = {draft, strlen(draft)};
    if (text.length >= 3 && memcmp(text.text, "\xEF\xBB\xBF", 3) == 0)
        text = (struct report_span){text.text + 3, text.length - 3};
    for (int i = 0; i < UNWRAP_MAX && split_unwrap_once(&text); i++)
        continue;
    split_drop_greeting(&text);
    split_drop_farewell(&text);
    return arena_strndup(arena, text.text, text.length);
}

/* ---- the parts --------------------------------------------------------------------------------------------------- */

static const struct {
    enum report_part part;
    const char *words;
} split_names[] = {
    {REPORT_SUMMARY, "executive summary"},
    {REPORT_SUMMARY, "summary"},
    {REPORT_SUMMARY, "abstract"},
    {REPORT_SUMMARY, "エグゼクティブサマリー"},
    {REPORT_SUMMARY, "エグゼクティブ・サマリー"},
    {REPORT_SUMMARY, "エグゼクティブ サマリー"},
    {REPORT_SUMMARY, "サマリー"},
    {REPORT_SUMMARY, "要旨"},
    {REPORT_SUMMARY, "要約"},
    {REPORT_FINDINGS, "key findings"},
    {REPORT_FINDINGS, "main findings"},
    {REPORT_FINDINGS, "findings"},
    {REPORT_FINDINGS, "主な発見"},
    {REPORT_FINDINGS, "主な発見事項"},
    {REPORT_FINDINGS, "主要な発見"},
    {REPORT_FINDINGS, "主要な発見事項"},
    {REPORT_FINDINGS, "重要な発見"},
    {REPORT_FINDINGS, "主な知見"},
    {REPORT_FINDINGS, "主要な知見"},
    {REPORT_ANALYSIS, "detailed analysis"},
    {REPORT_ANALYSIS, "analysis"},
    {REPORT_ANALYSIS, "詳細分析"},
    {REPORT_ANALYSIS, "詳細な分析"},
    {REPORT_ANALYSIS, "分析"},
};

/* The name may be followed by words in brackets: "要旨（Executive Summary）". */
static bool split_is_name(struct report_span words, const char *name)
{
    static const char *const after[] = {"(", "（", "[", "/", "／"};
    size_t length = strlen(name);
    if (words.length < length || strncasecmp(words.text, name, length) != 0)
        return false;
    struct report_span rest = {words.text + length, words.length - length};
    while (rest.length && *rest.text == ' ') {
        rest.text++;
        rest.length--;
    }
    return !rest.length || split_begins_with(&rest, after, WORDS_OF(after));
}

static enum report_part split_part_of(struct report_span words)
{
    for (size_t i = 0; i < WORDS_OF(split_names); i++)
        if (split_is_name(words, split_names[i].words))
            return split_names[i].part;
    return REPORT_PARTS;
}

struct splitting {
    struct report_draft *draft;
    enum report_part part; /* REPORT_PARTS: before any */
    int level;             /* of the part's heading */
    int section_level;     /* of the sections of the analysis */
    bool titled;
    struct report_span *open;
};

static void split_open_section(struct splitting *split, struct report_span heading, const char *from)
{
    struct report_draft *draft = split->draft;
    split->part = REPORT_ANALYSIS;
    if (draft->section_count == REPORT_SECTIONS_MAX)
        return;
    draft->sections[draft->section_count] = (struct report_section){heading, {from, 0}};
    split->open = &draft->sections[draft->section_count++].text;
}

/* `from` is the begin of the text below the heading. */
static void split_take_heading(struct splitting *split, struct report_span words, int level, const char *from)
{
    enum report_part part = split_part_of(words);
    struct report_draft *draft = split->draft;
    struct report_span *first = part == REPORT_SUMMARY ? &draft->summary : &draft->findings;
    if (part < REPORT_ANALYSIS && !first->text) {
        *first = (struct report_span){from, 0};
        split->open = first;
        split->part = part;
        split->level = level;
    } else if (part == REPORT_ANALYSIS) {
        split_open_section(split, (struct report_span){from, 0}, from);
        split->level = level;
        split->section_level = 0;
    } else if (level == 1 && !split->titled) {
        split->titled = true;
        split->open = NULL;
    } else if (split->part == REPORT_ANALYSIS || level <= split->level || split->part == REPORT_PARTS) {
        split_open_section(split, words, from);
        split->section_level = level > ANALYSIS_LEVEL ? level : ANALYSIS_LEVEL;
    }
}

/* Headings below the level of a section are part of its text. */
static bool split_is_inner(const struct splitting *split, int level)
{
    return split->part == REPORT_ANALYSIS && split->section_level && level > split->section_level;
}

void report_split(const char *text, struct report_draft *draft)
{
    struct splitting split = {.draft = draft, .part = REPORT_PARTS};
    size_t length = strlen(text), fence = 0;
    memset(draft, 0, sizeof *draft);
    for (size_t at = 0, end, next; at < length; at = next) {
        end = split_line_end(text, length, at);
        next = end < length ? end + 1 : length;
        size_t marks = split_fence(text, at, end);
        bool bold = split_is_bold(text, at, end);
        int level = fence || marks ? 0 : bold ? BOLD_LEVEL : split_marks(text, at, end);
        fence = fence ? (marks >= fence ? 0 : fence) : marks;
        struct cited_span words = cite_heading_words(text, at, end);
        const struct report_span heading = {text + words.begin, words.end - words.begin};
        bool named = level && split_part_of(heading) < REPORT_PARTS;
        if (level && (named || (level < BOLD_LEVEL && !split_is_inner(&split, level)) ||
                      (bold && split.part == REPORT_ANALYSIS && !split_is_inner(&split, level)))) {
            split_take_heading(&split, heading, level, text + next);
            continue;
        }
        if (!split.open && !split_is_blank(text, at, end) && !level)
            split_open_section(&split, (struct report_span){text + at, 0}, text + at);
        if (split.open)
            split.open->length = (size_t)(text + next - split.open->text);
    }
}
