/* TEXT: the words as the person wrote them, without the frame of a short answer: "My name is Ada.", 田中と申します。 */
#include "form/values.h"

#include <string.h>

#include "words/pattern.h"

#define SHORT_TEXT 60 /* characters of an answer that may be a name in a frame */
#define SPANS_MAX  8  /* parts of an answer that are tried against a pattern */

static bool is_edge(uint32_t code)
{
    return is_space(code) || code == 0x3002 || code == 0x3001 || code == ',';
}

/* A stop at the end of a short answer is not part of the value, unless it belongs to an abbreviation. */
static size_t text_value_end(const struct reading *in, size_t first, size_t end)
{
    while (end > first && is_edge(code_at(in, end - 1)))
        end--;
    bool stop = end > first + 1 && (code_at(in, end - 1) == '.' || code_at(in, end - 1) == '!');
    size_t word = end - (stop ? 1 : 0), letters = 0;
    while (word > first && script_of(code_at(in, word - 1)) == SCRIPT_LETTER) {
        word--;
        letters++;
    }
    static const char *const abbreviations[] = {"inc.",  "ltd.", "jr.",  "sr.",  "co.",
                                                "corp.", "st.",  "ave.", "etc.", NULL};
    bool kept = stop && (letters <= 1 || words_at(in, word, abbreviations, NULL));
    return stop && !kept ? end - 1 : end;
}

/* The words of the field and the words that join them to the value: "my name is", 名前は, "E-mail:". */
static size_t label_lead(const struct reading *in, size_t first, size_t end)
{
    struct name_found found[4];
    size_t at = first, count;
    static const char *const before[] = {"my", "the", "our", "ご", "お", "私の", NULL};
    static const char *const after[] = {"is", "was", "should be", "will be", "would be", ":", "は", "=", "が", NULL};
    size_t lead = words_at(in, at, before, NULL);
    at = lead ? skip_spaces(in, lead) : at;
    count = names_find(in->form->names, &in->in, in->arena, found, 4);
    for (size_t i = 0; count != SIZE_MAX && i < count; i++) {
        const struct form_word *word = &in->form->words[found[i].tag];
        size_t behind = words_at(in, skip_spaces(in, found[i].end), after, NULL);
        if (word->field == in->field && word->choice < 0 && (found[i].first == at || found[i].first == first) &&
            behind && behind < end)
            return skip_spaces(in, code_at(in, behind) == 0x3001 ? behind + 1 : behind);
    }
    return first;
}

/* Words before and behind a name that say "this is it". */
static size_t frame_lead(const struct reading *in, size_t first, size_t end)
{
    static const char *const leads[] = {"my name is",
                                        "i am",
                                        "i'm",
                                        "im",
                                        "it is",
                                        "it's",
                                        "its",
                                        "this is",
                                        "that is",
                                        "that's",
                                        "that would be",
                                        "it would be",
                                        "you can call me",
                                        "call me",
                                        "please call me",
                                        "they call me",
                                        "well",
                                        "um",
                                        "uh",
                                        "so",
                                        "hi",
                                        "hello",
                                        "sure",
                                        "ok",
                                        "okay",
                                        "i'm called",
                                        "name is",
                                        "yes",
                                        "さて",
                                        "えっと",
                                        "えーと",
                                        "ええと",
                                        "あの",
                                        "はい",
                                        "私は",
                                        "わたしは",
                                        "僕は",
                                        "私の名前は",
                                        "名前は",
                                        "氏名は",
                                        "こんにちは",
                                        "それは",
                                        "俺は",
                                        NULL};
    for (int i = 0; i < 4; i++) {
        size_t lead = words_at(in, first, leads, NULL);
        if (!lead || lead >= end)
            break;
        while (lead < end && (is_edge(code_at(in, lead)) || code_at(in, lead) == '!' || code_at(in, lead) == 0xFF01))
            lead++;
        if (lead >= end)
            break;
        first = lead;
    }
    return first;
}

static size_t frame_tail(const struct reading *in, size_t first, size_t end)
{
    static const char *const tails[] = {"です",
                                        "でございます",
                                        "になります",
                                        "と申します",
                                        "ともうします",
                                        "といいます",
                                        "と言います",
                                        "だよ",
                                        "だ",
                                        "でお願いします",
                                        "でお願いいたします",
                                        "でおねがいします",
                                        "ですね",
                                        "ですよ",
                                        "っす",
                                        "と呼んでください",
                                        "にしてください",
                                        "にします",
                                        "と思います",
                                        "だと思います",
                                        "thanks",
                                        "thank you",
                                        "please",
                                        "よろしくお願いします",
                                        "よろしく",
                                        "、よろしくお願いします",
                                        NULL};
    for (int i = 0; i < 3; i++) {
        size_t tail = words_before(in, end, tails);
        if (tail == SIZE_MAX || tail <= first)
            break;
        size_t rest = text_value_end(in, first, tail);
        uint32_t last = rest > first ? code_at(in, rest - 1) : 0;
        bool latin = code_is_latin(code_at(in, tail));
        bool marked = latin && tail > first && code_at(in, rest) == ','; /* "say thanks" is no filler */
        bool kana = !latin && script_of(last) == SCRIPT_HIRAGANA;
        for (size_t c = first; kana && c < rest; c++) /* a name in Hiragana alone: たなか はなこです */
            kana = script_of(code_at(in, c)) != SCRIPT_HIRAGANA && !is_space(code_at(in, c)) ? false : kana;
        bool name = strstr(in->spec->label, "名") || strstr(in->spec->label, "かな") ||
                    strstr(in->spec->label, "カナ") || strcasestr(in->spec->label, "name");
        bool noun = script_of(last) != SCRIPT_HIRAGANA || (kana && name);
        if (latin ? !marked : !noun)
            break;
        end = rest;
    }
    return end;
}

/* The part that matches the field's pattern, if exactly a single part matches: "it's AB1234". */
static bool text_by_pattern(const struct reading *in, size_t first, size_t end, struct candidate *read)
{
    const char *pattern = in->spec->limits ? in->spec->limits->pattern : "";
    size_t parts = 0, from = first;
    struct candidate only = {.problem = FORM_FINE};
    if (!pattern[0])
        return true;
    for (size_t tried = 0; tried < SPANS_MAX && from < end; tried++) {
        while (from < end && !code_is_latin(code_at(in, from)) && !code_is_digit(code_at(in, from)))
            from++;
        size_t to = from;
        while (to < end && (code_is_latin(code_at(in, to)) || code_is_digit(code_at(in, to)) ||
                            strchr("-_./", (int)(code_at(in, to) < 0x80 ? code_at(in, to) : 'x'))))
            to++;
        while (to > from && (code_at(in, to - 1) == '.' || code_at(in, to - 1) == '-'))
            to--;
        const char *text = reading_narrow(in, from, to);
        if (!text)
            return false;
        if (to > from && pattern_matches(pattern, text, strlen(text)) == PATTERN_MATCHES) {
            bool same = parts > 0 && strcmp(only.text, text) == 0;
            parts += !same;
            only = (struct candidate){.first = from, .end = to, .problem = FORM_FINE, .text = text};
        }
        from = to > from ? to : from + 1;
    }
    if (parts == 1 && !reading_denies(in, only.first, only.end))
        *read = only;
    return true;
}

static bool one_sentence(const struct reading *in, size_t first, size_t end)
{
    return sentence_end(in, first) >= end;
}

/* The end of the first sentence if only filler follows: "Ada. Thanks!" */
static size_t text_without_filler(const struct reading *in, size_t first, size_t end)
{
    size_t stop = sentence_end(in, first);
    return stop < end && stop > first && reading_is_filler(in, stop, end, NULL) ? stop : end;
}

/* The beginning of the text behind a sentence of filler: "Hello! I'm Ada." */
static size_t text_behind_filler(const struct reading *in, size_t first, size_t end)
{
    size_t stop = sentence_end(in, first);
    return stop < end && stop > first && reading_is_filler(in, first, stop, NULL) &&
                   !reading_is_filler(in, stop, end, NULL)
               ? stop + 1
               : first;
}

bool words_read_part(const struct reading *in, size_t first, size_t end, struct candidate *read)
{
    first = text_behind_filler(in, first, end);
    while (first < end && is_edge(code_at(in, first)))
        first++;
    while (end > first && is_space(code_at(in, end - 1)))
        end--;
    end = text_without_filler(in, first, end);
    size_t whole = first, whole_end = end, stop = text_value_end(in, first, end);
    if (end - first <= SHORT_TEXT && one_sentence(in, first, stop)) {
        end = stop;
        size_t lead = label_lead(in, first, end);
        first = lead < end ? lead : first;
        first = frame_lead(in, first, end);
        end = frame_tail(in, first, end);
    }
    *read = (struct candidate){.first = first, .end = end, .problem = FORM_NO_VALUE, .text = ""};
    bool marks = true; /* "?!" and an emoji have no word */
    for (size_t i = first; i < end && marks; i++)
        marks = script_of(code_at(in, i)) <= SCRIPT_SPACE;
    if (first >= end || marks)
        return true;
    read->problem = FORM_FINE;
    read->text = reading_copy(in, first, end);
    if (!read->text)
        return false;
    if (text_is_no_name(in->spec->label, read->text)) {
        *read = (struct candidate){.first = first, .end = end, .problem = FORM_NO_VALUE, .text = ""};
        return true;
    }
    const char *pattern = in->spec->limits ? in->spec->limits->pattern : "";
    if (!pattern[0] || pattern_matches(pattern, read->text, strlen(read->text)) == PATTERN_MATCHES)
        return true;
    const char *narrow = reading_narrow(in, first, end);
    if (narrow && pattern_matches(pattern, narrow, strlen(narrow)) == PATTERN_MATCHES)
        read->text = narrow;
    return narrow && (read->text == narrow || text_by_pattern(in, whole, whole_end, read));
}

bool words_read(const struct reading *in, struct candidate *read)
{
    struct form_utterance heard;
    if (!form_read_act(in->form, in->in.text, in->context, in->arena, &heard))
        return false;
    *read = (struct candidate){.end = in->in.count, .problem = FORM_NO_VALUE, .text = ""};
    bool answers = heard.act == FORM_ANSWERS || heard.act == FORM_SPEAKS || heard.act == FORM_CHANGES;
    return !answers || words_read_part(in, 0, in->in.count, read);
}
