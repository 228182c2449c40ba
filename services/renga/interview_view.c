/* A conversation as a person sees it: progress, the reply, the values with their quotes. */
#include "interview.h"

#include "form/form.h"
#include "wrap.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define VIEW_MEMORY    ((size_t)16 << 20)
#define HELP_INDENT    11 /* columns */

/* Before the person has named a language, the terminal's own. */
static bool view_is_japanese(const struct conversation *conversation)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG", NULL};
    const char *language =
        conversation->state && conversation->state->bootstrap ? conversation->state->bootstrap->language : NULL;
    for (const char *const *name = names; (!language || !*language) && *name; name++)
        language = getenv(*name);
    return language && strncmp(language, "ja", 2) == 0;
}

const char *interview_say(const struct conversation *conversation, const char *japanese, const char *english)
{
    return view_is_japanese(conversation) ? japanese : english;
}

bool interview_is_over(const struct conversation *conversation)
{
    return !conversation->reply->awaiting_user_response;
}

static size_t view_width(const struct conversation *conversation)
{
    return conversation->client.terminal ? command_terminal_width() : 0;
}

/* A line in a single colour. */
static void view_show_line(const struct conversation *conversation, const char *sequence, const char *text)
{
    fputs(colour(&conversation->client, sequence), stdout);
    wrap_text(text, 0, view_width(conversation), false);
    if (*sequence)
        fputs(colour(&conversation->client, PLAIN), stdout);
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

static const Renga__V1__FormField *view_field(const struct conversation *conversation, const char *field_id)
{
    for (size_t i = 0; conversation->state->form && i < conversation->state->form->n_fields; i++)
        if (strcmp(conversation->state->form->fields[i]->field_id, field_id) == 0)
            return conversation->state->form->fields[i];
    return NULL;
}

static const char *view_label(const struct conversation *conversation, const char *field_id)
{
    const Renga__V1__FormField *field = view_field(conversation, field_id);
    return field ? field->label : field_id;
}

/* The value in the person's language: a choice's label, a date in words. */
static const char *view_words(const struct conversation *conversation, const struct form *form,
                              const Renga__V1__FieldStatus *status, struct arena *arena)
{
    const Renga__V1__Bootstrap *known = conversation->state->bootstrap;
    struct form_context context = {.language = known ? known->language : "",
                                   .country = known ? known->country : "",
                                   .timezone = known ? known->timezone : "",
                                   .now_ms = (int64_t)time(NULL) * 1000};
    int field = form ? form_find(form, status->field_id) : -1;
    const char *words = field < 0 ? NULL : form_value_text(form, (size_t)field, status->value->text, &context, arena);
    return words ? words : status->value->text;
}

/* "2. ✓ Your e-mail address [email]: ada@example.com "it is ada@example.com"" */
static void view_show_value(const struct conversation *conversation, const struct form *form, size_t place,
                            struct arena *arena)
{
    const Renga__V1__FieldStatus *status = conversation->state->field_statuses[place];
    bool done = status->state == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE && status->value;
    struct buffer line;
    char number[24];
    buffer_init(&line, LINE_MAX_BYTES);
    snprintf(number, sizeof number, "%2zu. ", place + 1);
    buffer_printf(&line, "%s %s %c[%s]%c", done ? "✓" : "·", view_label(conversation, status->field_id), WRAP_DIM,
                  status->field_id, WRAP_PLAIN);
    if (done) {
        const char *words = view_words(conversation, form, status, arena), *quote = status->value->quote;
        buffer_printf(&line, ": %s", words);
        if (*quote && strcmp(quote, words) != 0)
            buffer_printf(&line, " %c%s%s%s%c", WRAP_DIM, interview_say(conversation, "「", "\""), quote,
                          interview_say(conversation, "」", "\""), WRAP_PLAIN);
    } else if (status->state == RENGA__V1__FIELD_STATE__FIELD_STATE_LEFT_OPEN) {
        const char *reason = status->open_reason;
        buffer_printf(&line, ": %c%s%s%s%s%c", WRAP_DIM, interview_say(conversation, "（未回答", "(left open"),
                      *reason ? ": " : "", reason, interview_say(conversation, "）", ")"), WRAP_PLAIN);
    }
    fputs(number, stdout);
    wrap_text(buffer_text(&line), strlen(number), view_width(conversation), conversation->client.colours);
    buffer_fini(&line);
}

void interview_show_values(const struct conversation *conversation)
{
    struct status ignored = {0};
    struct arena arena;
    arena_init(&arena, NULL, 0, VIEW_MEMORY);
    const struct form *form = conversation->state->form ? form_open(&arena, conversation->state->form, &ignored) : NULL;
    for (size_t i = 0; i < conversation->state->n_field_statuses; i++)
        if (conversation->state->field_statuses[i]->state != RENGA__V1__FIELD_STATE__FIELD_STATE_NOT_APPLICABLE)
            view_show_value(conversation, form, i, &arena);
    arena_fini(&arena);
    fflush(stdout);
}

static const char *past_blanks(const char *text)
{
    static const char wide[] = "　";
    for (;;)
        if (*text == ' ' || *text == '\t')
            text++;
        else if (strncmp(text, wide, strlen(wide)) == 0)
            text += strlen(wide);
        else
            return text;
}

/* Whether the text begins with the name, and a blank or its end behind it. */
static bool begins_with(const char *text, const char *name, const char **rest)
{
    size_t length = strlen(name);
    if (!length || strncmp(text, name, length) != 0)
        return false;
    const char *behind = past_blanks(text + length);
    if (behind == text + length && *behind)
        return false;
    *rest = behind;
    return true;
}

int interview_find_field(const struct conversation *conversation, const char *text, const char **rest)
{
    const Renga__V1__MainSessionState *state = conversation->state;
    char number[24];
    text = past_blanks(text);
    for (size_t i = 0; i < state->n_field_statuses; i++)
        if (begins_with(text, state->field_statuses[i]->field_id, rest))
            return (int)i;
    for (size_t i = 0; i < state->n_field_statuses; i++) {
        snprintf(number, sizeof number, "%zu", i + 1);
        if (begins_with(text, view_label(conversation, state->field_statuses[i]->field_id), rest) ||
            begins_with(text, number, rest))
            return (int)i;
    }
    return -1;
}

/* ---- the conversation -------------------------------------------------------------------------------------------- */

/* Of the fields that are asked. */
static void count_fields(const struct conversation *conversation, size_t *done, size_t *total)
{
    *done = *total = 0;
    for (size_t i = 0; i < conversation->state->n_field_statuses; i++) {
        Renga__V1__FieldState state = conversation->state->field_statuses[i]->state;
        *total += state != RENGA__V1__FIELD_STATE__FIELD_STATE_NOT_APPLICABLE;
        *done +=
            state == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE || state == RENGA__V1__FIELD_STATE__FIELD_STATE_LEFT_OPEN;
    }
}

static void view_show_progress(const struct conversation *conversation)
{
    char line[96];
    size_t done, total;
    count_fields(conversation, &done, &total);
    if (!conversation->state->plan || !total)
        return;
    snprintf(line, sizeof line,
             view_is_japanese(conversation) ? "── %2$zu項目中%1$zu項目が完了 ──" : "── %1$zu of %2$zu done ──", done,
             total);
    view_show_line(conversation, DIM, line);
}

/* "- Your name: Ada": the reply of a form that is complete has its values. */
static bool is_value(const struct conversation *conversation, const char *line)
{
    const Renga__V1__SessionForm *form = conversation->state->form;
    if (strncmp(line, "- ", 2) != 0)
        return false;
    for (size_t i = 0; form && i < form->n_fields; i++) {
        size_t length = strlen(form->fields[i]->label);
        if (strncmp(line + 2, form->fields[i]->label, length) == 0 && strncmp(line + 2 + length, ": ", 2) == 0)
            return true;
    }
    return false;
}

/* Lines of accepted values are green. The list with quotes stands in place of the reply's own list of values. */
static void show_text_of_reply(const struct conversation *conversation, const char *text, bool list)
{
    static const char taken[] = "✓";
    bool listed = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        if (!line)
            abort();
        if (!list || !is_value(conversation, line))
            view_show_line(conversation, strncmp(line, taken, strlen(taken)) == 0 ? GREEN : "", line);
        else if (!listed)
            interview_show_values(conversation);
        listed |= list && is_value(conversation, line);
        free(line);
        text += length + (text[length] == '\n');
    }
    if (list && !listed)
        interview_show_values(conversation);
}

void interview_show_reply(const struct conversation *conversation)
{
    bool over = interview_is_over(conversation);
    if (conversation->json) {
        message_print_json(&conversation->reply->base);
        return;
    }
    if (conversation->interactive)
        view_show_progress(conversation);
    show_text_of_reply(conversation, conversation->reply->response_text, over);
    if (conversation->interactive && over)
        view_show_line(conversation, DIM,
                       interview_say(conversation,
                                     "Enter で確定します。直すときは、そのままお書きください（/edit 番号 値、/help）。",
                                     "Enter confirms. To change something, just say so (/edit NUMBER VALUE, /help)."));
    fflush(stdout);
}

struct help_row {
    const char *command, *japanese, *english;
};

void interview_show_help(const struct conversation *conversation)
{
    static const struct help_row rows[] = {
        {"/list", "これまでの値と、もとになった発言", "the values so far, and the words they were made of"},
        {"/edit 2 …", "項目に値を入れる（/list の番号か名前）", "enter a value: a field's number or name in /list"},
        {"/quit", "中断する。続きはいつでも --session で", "stop here; --session goes on at any time"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%s%*s", rows[i].command, HELP_INDENT - (int)wrap_columns(rows[i].command), "");
        wrap_text(interview_say(conversation, rows[i].japanese, rows[i].english), HELP_INDENT, view_width(conversation),
                  false);
    }
    view_show_line(conversation, "",
                   interview_say(conversation,
                                 "「スキップ」「分かりません」「なぜ聞くのですか」「前に戻って」とも書けます。",
                                 "You can also write: skip, I don't know, why do you ask?, go back."));
    fflush(stdout);
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

/* As a shell takes it. */
static void print_word(const char *word)
{
    const char *c = word;
    while (isalnum((unsigned char)*c) || (*c && strchr("-_.:/@", *c)))
        c++;
    if (!*c && *word) {
        fputs(word, stderr);
        return;
    }
    fputc('\'', stderr);
    for (c = word; *c; c++)
        fprintf(stderr, *c == '\'' ? "'\\''" : "%c", iscntrl((unsigned char)*c) ? '?' : *c);
    fputc('\'', stderr);
}

void interview_show_name(const struct conversation *conversation)
{
    struct buffer line;
    buffer_init(&line, LINE_MAX_BYTES);
    buffer_printf(&line,
                  view_is_japanese(conversation) ? "（名前: %s。/quit で中断、/help で使い方）"
                                                 : "(session %s; /quit stops, /help explains)",
                  conversation->session_id);
    view_show_line(conversation, DIM, buffer_text(&line));
    buffer_fini(&line);
}

void interview_show_waits(const struct conversation *conversation)
{
    const struct config *config = conversation->client.config;
    const char *elsewhere = config_string(config, CONNECT);
    const char *store = elsewhere ? NULL : config_string(config, "orchestrator.store");
    size_t done, total;
    count_fields(conversation, &done, &total);
    fputs(INTERVIEW ": ", stderr);
    if (store && strncmp(store, "memory:", 7) == 0) {
        fputs(interview_say(conversation, "保存先（orchestrator.store）が memory: なので、この回答は残りません\n",
                            "orchestrator.store is memory:, so the session is not kept\n"),
              stderr);
        return;
    }
    fprintf(stderr,
            view_is_japanese(conversation) ? "ここまで保存しました（%2$zu項目中%1$zu項目）。続き: "
                                           : "the session waits, %1$zu of %2$zu done; go on with: ",
            done, total);
    fputs(INTERVIEW " --session ", stderr);
    print_word(conversation->session_id);
    if (elsewhere) {
        fputs(" --connect ", stderr);
        print_word(elsewhere);
    }
    fputc('\n', stderr);
}
