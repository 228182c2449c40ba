/* The lines that a person types: answers, commands, the confirmation.
 *
 *      a line ---> /help, /list, /edit, /quit
 *             ---> every field is settled, and the line agrees ---> Confirm ---> the end
 *             ---> Answer ---> the next question
 *
 * At a terminal a call that fails is reported, and the conversation goes on; in a pipe it ends the command. */
#include "interview.h"

#include "prompt_line.h"

#include "base/nearest.h"
#include "base/text.h"
#include "rpc/message_json.h"
#include "words/words.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MAX     ((size_t)32768)   /* bytes, as AnswerInterviewRequest.text */
#define REQUEST_MAX    ((size_t)2 << 20) /* bytes of a request in JSON */
#define REQUEST_MEMORY ((size_t)8 << 20)

enum lines_end { LINES_ON, LINES_CONFIRMED, LINES_QUIT, LINES_FAILED, LINES_REFUSED, LINES_INTERRUPTED };

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Takes the line without its end. LINES_QUIT: the input has ended; LINES_REFUSED: the line cannot be an answer. */
static enum lines_end lines_read_line(struct conversation *conversation, struct buffer *line)
{
    size_t limit = conversation->json ? REQUEST_MAX : ANSWER_MAX;
    bool fits = true;
    int c;
    buffer_clear(line);
    if (!prompt_watch_wait(
            conversation->interactive)) /* a terminal hands over whole lines, so none stays in a buffer */
        return LINES_INTERRUPTED;
    errno = 0;
    while ((c = getc(stdin)) != EOF && c != '\n') {
        fits &= line->length <= limit;
        if (fits)
            buffer_put(line, (char)c);
    }
    if (c == EOF && errno == EINTR)
        return LINES_INTERRUPTED;
    if (c == EOF && !line->length)
        return LINES_QUIT;
    if (line->length && line->data[line->length - 1] == '\r')
        line->length--;
    fits &= line->length <= limit;
    if (fits && text_is_clean(line->data ? line->data : "", line->length))
        return LINES_ON;
    if (fits)
        fprintf(stderr, INTERVIEW ": %s\n",
                interview_say(conversation, "この行は UTF-8 として読めません", "the line is not UTF-8"));
    else
        fprintf(stderr, INTERVIEW ": %s\n",
                interview_say(conversation, "1行は32,768バイトまでです",
                              "a line is too long: an answer has at most 32,768 bytes"));
    return LINES_REFUSED;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static enum lines_end lines_send_answer(struct conversation *conversation)
{
    conversation->answer.session_id = conversation->session_id;
    if (!conversation->answer.expected_revision)
        conversation->answer.expected_revision = conversation->state->revision;
    if (!interview_call(conversation, CONVERSATION_ANSWER))
        return LINES_FAILED;
    interview_show_reply(conversation);
    return LINES_ON;
}

static enum lines_end lines_answer_text(struct conversation *conversation, char *text)
{
    renga__v1__answer_interview_request__init(&conversation->answer);
    conversation->answer.text = text;
    return lines_send_answer(conversation);
}

/* An AnswerInterviewRequest as a line of JSON: {"text": "..."}, {"values": {"email": "..."}}. */
static enum lines_end lines_answer_request(struct conversation *conversation, const char *line)
{
    struct json_document document;
    struct arena arena;
    struct status st = {0};
    enum lines_end end = LINES_REFUSED;
    if (!json_document_parse(&document, "the line", line, strlen(line), NULL, &st)) {
        fprintf(stderr, INTERVIEW ": %s\n", st.text);
        return end;
    }
    arena_init(&arena, NULL, 0, REQUEST_MEMORY);
    const ProtobufCMessageDescriptor *type = &renga__v1__answer_interview_request__descriptor;
    Renga__V1__AnswerInterviewRequest *request =
        message_check_json(&document, type, document.root, &st)
            ? (Renga__V1__AnswerInterviewRequest *)message_read_json(type, document.root, &arena, &st)
            : NULL;
    if (request) {
        conversation->answer = *request;
        end = lines_send_answer(conversation);
    } else {
        fprintf(stderr, INTERVIEW ": %s\n", st.text);
    }
    arena_fini(&arena);
    json_document_fini(&document);
    return end;
}

/* "/edit email b@example.com", "/edit 2 b@example.com". */
static enum lines_end lines_edit_value(struct conversation *conversation, const char *text)
{
    Renga__V1__AnswerInterviewRequest__ValuesEntry entry = RENGA__V1__ANSWER_INTERVIEW_REQUEST__VALUES_ENTRY__INIT;
    Renga__V1__AnswerInterviewRequest__ValuesEntry *values[] = {&entry};
    const char *value;
    int field = interview_find_field(conversation, text, &value);
    if (field < 0 || !*value) {
        fprintf(stderr, INTERVIEW ": %s\n",
                field < 0 ? interview_say(conversation,
                                          "その項目はありません。/edit 項目 値（項目は /list の番号か [ ] の名前）",
                                          "there is no such field: /edit FIELD VALUE, with FIELD as its number or name "
                                          "in /list")
                          : interview_say(conversation, "値がありません。/edit 項目 値",
                                          "the value is missing: /edit FIELD VALUE"));
        return LINES_REFUSED;
    }
    entry.key = conversation->state->field_statuses[field]->field_id;
    entry.value = (char *)(uintptr_t)value;
    renga__v1__answer_interview_request__init(&conversation->answer);
    conversation->answer.values = values;
    conversation->answer.n_values = 1;
    return lines_send_answer(conversation);
}

/* ---- the confirmation -------------------------------------------------------------------------------------------- */

static bool lines_line_agrees(const struct conversation *conversation, const char *line)
{
    static const char *const words[] = {
        "y",          "yes",          "ok",       "okay",       "confirm", "i confirm",    "はい",     "ok です",
        "okです",     "確定",         "確定する", "確定します", "確認",    "確認しました", "了解です", "問題ありません",
        "大丈夫です", "お願いします", NULL};
    static const char *const ends[] = {".", "!", "。", NULL};
    struct buffer plain;
    bool same = false;
    buffer_init(&plain, 4 * ANSWER_MAX);
    words_normalize(&plain, line, strlen(line));
    for (const char *const *end = ends; *end; end++)
        if (plain.length > strlen(*end) && memcmp(plain.data + plain.length - strlen(*end), *end, strlen(*end)) == 0)
            plain.length -= strlen(*end);
    for (const char *const *word = words; *word; word++)
        same |= strcmp(buffer_text(&plain), *word) == 0;
    same |= conversation->interactive && plain.length == 0; /* the Enter key; in a file it is an empty line */
    buffer_fini(&plain);
    return same;
}

static enum lines_end lines_confirm(struct conversation *conversation)
{
    return interview_call(conversation, CONVERSATION_CONFIRM) ? LINES_CONFIRMED : LINES_FAILED;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static const char *const commands[] = {"/help", "/list", "/edit", "/quit", NULL};

/* The text behind the command; NULL: another line. */
static const char *lines_behind_command(const char *line, const char *command)
{
    static const char wide[] = "　";
    size_t length = strlen(command);
    if (strncmp(line, command, length) != 0)
        return NULL;
    line += length;
    if (*line && *line != ' ' && *line != '\t' && strncmp(line, wide, strlen(wide)) != 0)
        return NULL;
    return line;
}

/* "/lsit": a slip, and no answer. A path or a number is an answer. */
static const char *lines_misspelt_command(const char *line)
{
    char word[16];
    size_t length = strcspn(line, " ");
    if (*line != '/' || length >= sizeof word || strcspn(line + 1, "/0123456789") + 1 < length)
        return NULL;
    snprintf(word, sizeof word, "%.*s", (int)length, line);
    struct nearest nearest = nearest_to(word);
    for (const char *const *command = commands; *command; command++)
        nearest_try(&nearest, *command);
    return nearest.name;
}

static enum lines_end lines_take_line(struct conversation *conversation, char *line)
{
    const char *rest, *meant;
    if (conversation->json && *line == '{')
        return lines_answer_request(conversation, line);
    if (interview_is_over(conversation) && lines_line_agrees(conversation, line))
        return lines_confirm(conversation);
    if (text_is_blank(line))
        return LINES_ON;
    if (conversation->json)
        return lines_answer_text(conversation, line);
    if (lines_behind_command(line, "/quit"))
        return LINES_QUIT;
    if (lines_behind_command(line, "/help"))
        interview_show_help(conversation);
    else if (lines_behind_command(line, "/list"))
        interview_show_values(conversation);
    else if ((rest = lines_behind_command(line, "/edit")))
        return lines_edit_value(conversation, rest);
    else if ((meant = lines_misspelt_command(line)))
        fprintf(stderr, INTERVIEW ": %s %s\n", interview_say(conversation, "もしかして:", "did you mean"), meant);
    else
        return lines_answer_text(conversation, line);
    return LINES_ON;
}

/* ---- the conversation -------------------------------------------------------------------------------------------- */

/* At a terminal: false if no other line can succeed. */
static bool lines_recover(struct conversation *conversation)
{
    enum status_code code = conversation->call.call.status.code;
    if (command_interrupted() || code == NOT_FOUND || code == UNAUTHENTICATED || code == PERMISSION_DENIED)
        return false;
    interview_report(conversation);
    if (code == ABORTED && interview_call(conversation, CONVERSATION_GET)) /* another window has answered */
        interview_show_reply(conversation);
    return true;
}

static enum lines_end lines_take_all(struct conversation *conversation, struct buffer *line)
{
    for (;;) {
        if (conversation->interactive) {
            printf("%s› %s", colour(&conversation->client, BOLD), colour(&conversation->client, PLAIN));
            fflush(stdout);
        }
        enum lines_end end = lines_read_line(conversation, line);
        if (end == LINES_ON)
            end = lines_take_line(conversation, (char *)(uintptr_t)buffer_text(line));
        else if (end == LINES_QUIT && interview_is_over(conversation) &&
                 config_boolean(conversation->client.config, "confirm"))
            return lines_confirm(conversation);
        else if (conversation->interactive && end != LINES_REFUSED)
            putchar('\n'); /* Ctrl-C and Ctrl-D leave the cursor behind the prompt */
        bool mends =
            conversation->interactive && (end == LINES_REFUSED || (end == LINES_FAILED && lines_recover(conversation)));
        if (end != LINES_ON && !mends)
            return end;
    }
}

enum command_exit interview_converse(struct conversation *conversation)
{
    struct buffer line;
    struct sigaction before;
    if (!prompt_watch_begin(&before)) {
        fprintf(stderr, INTERVIEW ": a pipe cannot be made: %s\n", strerror(errno));
        return COMMAND_FAILED;
    }
    buffer_init(&line, REQUEST_MAX + 2);
    enum lines_end end = lines_take_all(conversation, &line);
    prompt_watch_end(&before);
    enum command_exit code = end == LINES_CONFIRMED     ? COMMAND_OK
                             : end == LINES_FAILED      ? interview_failed(conversation)
                             : end == LINES_REFUSED     ? COMMAND_USAGE
                             : end == LINES_INTERRUPTED ? COMMAND_INTERRUPTED
                                                        : COMMAND_WAITS;
    buffer_fini(&line);
    return code;
}
