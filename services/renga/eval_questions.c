/* Questions from a file: a JSON object a line. A line that is wrong is named and left out. */
#include "eval.h"

#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "words/words.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPLAINTS_SHOWN 20
#define ENCODING_LOOKED  ((size_t)1024)  /* bytes */
#define QUESTION_MAX     ((size_t)32768) /* bytes, as AskRequest */
#define ANSWER_MAX       ((size_t)4096)
#define NAME_MAX_BYTES   ((size_t)2048) /* of a file, as Citation.uri */
#define ID_MAX           ((size_t)128)
#define LONG_NAME        6 /* bytes: of a shorter name, a name two letters away is another one: "title" is no "file" */

/* Several names of one field: other sets of questions are taken as they are. */
static const char *const known[] = {"id",    "question", "answers", "answer", "expected", "contains",
                                    "found", "file",     "uri",     "near",   "lang",     "language"};
#define KNOWN_COUNT (sizeof known / sizeof *known)

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static bool eval_take_text(const cJSON *root, const char *name, size_t most, const char **out, struct arena *arena,
                           struct status *st)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, name);
    if (!item || cJSON_IsNull(item))
        return true;
    if (!cJSON_IsString(item))
        return fail(st, INVALID_ARGUMENT, "%s: must be a text", name);
    if (strlen(item->valuestring) > most)
        return fail(st, INVALID_ARGUMENT, "%s: has %zu bytes; at most %zu are possible", name,
                    strlen(item->valuestring), most);
    if (!text_is_blank(item->valuestring))
        *out = arena_strdup(arena, item->valuestring);
    return true;
}

static bool eval_take_flag(const cJSON *root, const char *name, bool *out, struct status *st)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, name);
    *out = cJSON_IsTrue(item);
    return !item || cJSON_IsNull(item) || cJSON_IsBool(item) ||
           fail(st, INVALID_ARGUMENT, "%s: must be true or false", name);
}

static bool eval_add_answer(struct eval_question *question, const char **room, const cJSON *item, const char *name,
                            struct arena *arena, struct status *st)
{
    if (!cJSON_IsString(item) || text_is_blank(item->valuestring))
        return fail(st, INVALID_ARGUMENT, "%s: must be words of the answer, a text that is not blank", name);
    if (strlen(item->valuestring) > ANSWER_MAX)
        return fail(st, INVALID_ARGUMENT, "%s: has %zu bytes; at most %zu are possible", name,
                    strlen(item->valuestring), ANSWER_MAX);
    if (question->answer_count == EVAL_ANSWERS_MAX)
        return fail(st, INVALID_ARGUMENT, "%s: has more than %d answers", name, EVAL_ANSWERS_MAX);
    room[question->answer_count++] = arena_strdup(arena, item->valuestring);
    return true;
}

/* One text or a list of them, under one of four names. */
static bool eval_take_answers(struct eval_question *question, const cJSON *root, struct arena *arena, struct status *st)
{
    static const char *const names[] = {"answers", "answer", "expected", "contains"};
    const char *room[EVAL_ANSWERS_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cJSON *given = cJSON_GetObjectItemCaseSensitive(root, names[i]), *item;
        if (!given || cJSON_IsNull(given))
            continue;
        if (cJSON_IsString(given) && !eval_add_answer(question, room, given, names[i], arena, st))
            return false;
        if (!cJSON_IsString(given) && !cJSON_IsArray(given))
            return fail(st, INVALID_ARGUMENT, "%s: must be a text, or a list of texts", names[i]);
        cJSON_ArrayForEach(item, given)
        {
            if (!eval_add_answer(question, room, item, names[i], arena, st))
                return false;
        }
    }
    question->answers = arena_copy(arena, room, (question->answer_count + 1) * sizeof *room);
    return true;
}

static bool eval_check_names(const cJSON *root, struct status *st)
{
    for (const cJSON *item = root->child; item; item = item->next) {
        struct nearest nearest = nearest_to(item->string);
        bool is_known = false;
        for (size_t i = 0; i < KNOWN_COUNT; i++) {
            is_known |= strcmp(item->string, known[i]) == 0;
            nearest_try(&nearest, known[i]);
        }
        bool slip = nearest.name && (nearest.distance == 1 || strlen(nearest.name) >= LONG_NAME);
        if (!is_known && slip)
            return fail(st, INVALID_ARGUMENT, "'%.64s' is not known, did you mean '%s'?", item->string, nearest.name);
    }
    return true;
}

static bool eval_is_null(const cJSON *root, const char *name)
{
    return cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(root, name));
}

/* {"found": false}, {"uri": null} and {"near": true} say that there is no answer. */
static bool eval_take_class(struct eval_question *question, const cJSON *root, struct status *st)
{
    bool found, near;
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(root, "found");
    if (!eval_take_flag(root, "found", &found, st) || !eval_take_flag(root, "near", &near, st))
        return false;
    bool absent = near || cJSON_IsFalse(given);
    if (absent && (question->answer_count || question->file))
        return fail(st, INVALID_ARGUMENT, "%s: the question has an answer too (%s); give one of the two",
                    near ? "near" : "found", question->answer_count ? "answers" : "file");
    if (absent && found)
        return fail(st, INVALID_ARGUMENT, "near: goes with \"found\": false");
    absent |= (eval_is_null(root, "uri") || eval_is_null(root, "file")) && !found && !question->answer_count &&
              !question->file;
    if (!absent && !question->answer_count && !question->file)
        return fail(st, INVALID_ARGUMENT,
                    "answers: is missing; give words of the answer (\"answers\": [\"30 days\"]), the \"file\", or "
                    "\"found\": false");
    question->class = near ? EVAL_NEAR : absent ? EVAL_ABSENT : EVAL_ANSWERABLE;
    return true;
}

static bool eval_take_fields(struct eval_question *question, const cJSON *root, struct arena *arena, struct status *st)
{
    if (!cJSON_IsObject(root))
        return fail(st, INVALID_ARGUMENT, "must be an object, such as {\"question\": \"…\", \"answers\": [\"…\"]}");
    if (!eval_check_names(root, st) || !eval_take_text(root, "question", QUESTION_MAX, &question->text, arena, st) ||
        !eval_take_text(root, "id", ID_MAX, &question->id, arena, st) ||
        !eval_take_text(root, "language", ID_MAX, &question->language, arena, st) ||
        !eval_take_text(root, "lang", ID_MAX, &question->language, arena, st) ||
        !eval_take_text(root, "uri", NAME_MAX_BYTES, &question->file, arena, st) ||
        !eval_take_text(root, "file", NAME_MAX_BYTES, &question->file, arena, st))
        return false;
    if (!question->text)
        return fail(st, INVALID_ARGUMENT, "question: is missing or blank");
    return eval_take_answers(question, root, arena, st) && eval_take_class(question, root, st);
}

bool eval_question_read(struct eval_question *question, const char *line, size_t length, struct arena *arena,
                        struct status *st)
{
    const struct json_limits limits = {.depth = 8, .bytes = EVAL_LINE_MAX};
    *question = (struct eval_question){0};
    cJSON *root = json_parse(line, length, &limits, st);
    bool good = root && eval_take_fields(question, root, arena, st);
    cJSON_Delete(root);
    if (good && !question->language)
        question->language = words_language(question->text, strlen(question->text));
    return good && (!arena->exhausted || fail(st, RESOURCE_EXHAUSTED, "no memory for the questions"));
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static int eval_compare_ids(const void *one, const void *other)
{
    const struct eval_question *a = *(const struct eval_question *const *)one;
    const struct eval_question *b = *(const struct eval_question *const *)other;
    int order = strcmp(a->id, b->id);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* A question that stands twice gets the names "…#2", "…#3": a comparison with another run pairs them in order. */
static void eval_name_doubles(struct eval_questions *questions, struct arena *arena)
{
    struct eval_question **sorted = calloc(questions->count + 1, sizeof(struct eval_question *));
    if (!sorted)
        abort();
    for (size_t i = 0; i < questions->count; i++)
        sorted[i] = &questions->list[i];
    qsort(sorted, questions->count, sizeof(struct eval_question *), eval_compare_ids);
    for (size_t i = 1, copy = 2; i < questions->count; i++) {
        bool same = strcmp(sorted[i]->id, sorted[i - copy + 1]->id) == 0;
        if (same)
            sorted[i]->id = arena_printf(arena, "%s#%zu", sorted[i]->id, copy);
        copy = same ? copy + 1 : 2;
    }
    free(sorted);
}

static void eval_complain(struct eval_questions *questions, const char *path, size_t number, const char *why)
{
    if (++questions->bad <= COMPLAINTS_SHOWN) {
        fprintf(stderr, EVAL ": %s:%zu: ", path, number);
        show_text_on(stderr, why);
        fputc('\n', stderr);
    }
}

static void eval_take_line(struct eval_questions *questions, const char *path, size_t number, const char *line,
                           size_t size, struct arena *arena)
{
    struct status why = {0};
    struct eval_question *question = &questions->list[questions->count];
    if (size > EVAL_LINE_MAX) {
        eval_complain(questions, path, number, "the line is longer than 256 KiB");
        return;
    }
    if (!eval_question_read(question, line, size, arena, &why)) {
        eval_complain(questions, path, number, why.text);
        return;
    }
    question->line = number;
    question->id = question->id ? question->id : question->text;
    questions->count++;
}

static void eval_take_lines(struct eval_questions *questions, const char *path, const char *text, size_t length,
                            size_t limit, struct arena *arena)
{
    size_t number = 0;
    for (const char *line = text, *end = text + length; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((stop ? stop : end) - line);
        number++;
        size -= size && line[size - 1] == '\r';
        if (strspn(line, " \t\r") < size) {
            if (questions->count == limit) {
                questions->cut = true;
                break;
            }
            eval_take_line(questions, path, number, line, size, arena);
        }
        line = stop ? stop + 1 : end;
    }
    if (questions->bad > COMPLAINTS_SHOWN)
        fprintf(stderr, EVAL ": %s: %zu more lines are left out\n", path, questions->bad - COMPLAINTS_SHOWN);
}

/* A line of JSON has no zero byte; in UTF-16 each of its marks has one. */
static bool eval_check_encoding(const char *path, struct buffer *text, struct status *st)
{
    const char *begin = buffer_text(text);
    size_t looked = text->length < ENCODING_LOOKED ? text->length : ENCODING_LOOKED;
    bool marked = looked > 1 && (memcmp(begin, "\xff\xfe", 2) == 0 || memcmp(begin, "\xfe\xff", 2) == 0);
    if (!marked && !memchr(begin, '\0', looked))
        return true;
    return fail(st, INVALID_ARGUMENT,
                "%s is not in UTF-8 but in UTF-16, it seems; convert it: iconv -f UTF-16 -t UTF-8 %s > questions.jsonl",
                path, path);
}

bool eval_questions_read(struct eval_questions *questions, const char *path, size_t limit, struct arena *arena,
                         struct status *st)
{
    struct buffer text;
    limit = limit && limit < EVAL_QUESTIONS_MAX ? limit : EVAL_QUESTIONS_MAX;
    *questions = (struct eval_questions){.list = arena_zalloc(arena, (limit + 1) * sizeof *questions->list)};
    buffer_init(&text, EVAL_FILE_MAX);
    bool read = questions->list && file_read(path, &text, st) && eval_check_encoding(path, &text, st);
    const char *begin = buffer_text(&text);
    size_t skip = read && strncmp(begin, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (read)
        eval_take_lines(questions, path, begin + skip, text.length - skip, limit, arena);
    buffer_fini(&text);
    if (!read && !st->code)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the questions");
    if (!read)
        return false;
    eval_name_doubles(questions, arena);
    return questions->count || fail(st, INVALID_ARGUMENT,
                                    "%s has no question that can be used; a line is {\"question\": \"…\", "
                                    "\"answers\": [\"…\"], \"file\": \"…\"} or {\"question\": \"…\", \"found\": false}",
                                    path);
}
