/* `renga ace playbook`: shows the learnt playbooks, and changes them by hand. */
#include "ace.h"

#include "base/buffer.h"
#include "base/file.h"
#include "wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX     ((size_t)2 << 20) /* bytes of a file, as the contract has it */
#define CONTENT_SIZE 8192

/* ---- list and show ----------------------------------------------------------------------------------------------- */

bool ace_read_revision(const struct ace *ace, const char *text, int64_t *revision)
{
    char *end;
    errno = 0;
    *revision = strtoll(text, &end, 10);
    if (*text && !*end && !errno && *revision >= 0)
        return true;
    fprintf(stderr, ACE ": '%s' is no revision; 'renga ace playbook history %s' shows them\n", text, ace->dataset);
    return false;
}

const Renga__V1__GetPlaybookResponse *ace_get_playbook(struct ace *ace, int64_t revision,
                                                       Renga__V1__PlaybookFormat format)
{
    Renga__V1__GetPlaybookRequest request = RENGA__V1__GET_PLAYBOOK_REQUEST__INIT;
    request.dataset = command_text(ace->dataset);
    request.revision = revision;
    request.format = format;
    return (const Renga__V1__GetPlaybookResponse *)ace_ask(ace, ace->tool_runner, "GetPlaybook", &request.base);
}

int ace_exit(const struct ace *ace)
{
    return ace->client.status.code == INVALID_ARGUMENT ? COMMAND_USAGE : COMMAND_FAILED;
}

/* "[shr-00001] +3 −1  CONTENT": on a terminal in lines that fit, in a pipe cells between tabs. */
static void ace_show_bullet(const struct ace *ace, const Renga__V1__Bullet *bullet)
{
    char content[CONTENT_SIZE + 1];
    snprintf(content, sizeof content, "%s", bullet->content);
    for (char *c = content; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    if (!ace->client.terminal) {
        show_text(bullet->id);
        printf("\t%d\t%d\t", bullet->helpful, bullet->harmful);
        show_text(bullet->section);
        putchar('\t');
        show_text(content);
        putchar('\n');
        return;
    }
    printf("  %s", colour(&ace->client, DIM));
    show_text(bullet->id);
    printf("%s %s+%d%s %s−%d%s\n      ", colour(&ace->client, PLAIN), colour(&ace->client, GREEN), bullet->helpful,
           colour(&ace->client, PLAIN), colour(&ace->client, bullet->harmful ? RED : DIM), bullet->harmful,
           colour(&ace->client, PLAIN));
    wrap_text(content, 6, command_terminal_width(), false);
}

static void ace_playbook_show_bullets(const struct ace *ace, const Renga__V1__GetPlaybookResponse *playbook)
{
    const char *section = NULL;
    for (size_t i = 0; i < playbook->n_bullets; i++) {
        const Renga__V1__Bullet *bullet = playbook->bullets[i];
        if (ace->client.terminal && (!section || strcmp(section, bullet->section) != 0)) {
            section = bullet->section;
            fputs(colour(&ace->client, BOLD), stdout);
            show_text(section);
            printf("%s\n", colour(&ace->client, PLAIN));
        }
        ace_show_bullet(ace, bullet);
    }
}

int ace_playbook_show(struct ace *ace)
{
    int64_t revision = 0;
    char time[32];
    if (ace->rest_count && !ace_read_revision(ace, ace->rest[0], &revision))
        return COMMAND_USAGE;
    const Renga__V1__GetPlaybookResponse *playbook =
        ace_get_playbook(ace, revision, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_UNSPECIFIED);
    if (!playbook)
        return ace_exit(ace);
    if (ace->client.json) {
        message_print_json(&playbook->base);
        return COMMAND_OK;
    }
    ace_playbook_show_bullets(ace, playbook);
    if (!ace->quiet)
        fprintf(ace->client.terminal ? stdout : stderr,
                "%srevision %" PRId64 " of %s: %zu %s, about %" PRId64 " tokens%s\n", colour(&ace->client, DIM),
                playbook->revision, time_text(playbook->updated_ms, time), playbook->n_bullets,
                ACE_BULLETS(playbook->n_bullets), playbook->tokens, colour(&ace->client, PLAIN));
    if (playbook->n_proposals)
        fprintf(stderr, ACE ": proposed changes that wait for you: %zu; 'renga ace playbook proposals %s'\n",
                playbook->n_proposals, ace->dataset);
    return COMMAND_OK;
}

int ace_playbook_search(struct ace *ace)
{
    Renga__V1__SearchPlaybookRequest request = RENGA__V1__SEARCH_PLAYBOOK_REQUEST__INIT;
    request.dataset = command_text(ace->dataset);
    request.query = command_text(ace->rest[0]);
    request.limit = (int32_t)config_integer(ace->client.config, "top_k");
    const Renga__V1__SearchPlaybookResponse *found =
        (const Renga__V1__SearchPlaybookResponse *)ace_ask(ace, ace->tool_runner, "SearchPlaybook", &request.base);
    if (!found)
        return ace_exit(ace);
    if (ace->client.json)
        message_print_json(&found->base);
    for (size_t i = 0; i < found->n_hits && !ace->client.json; i++)
        ace_show_bullet(ace, found->hits[i]->bullet);
    if (!found->n_hits)
        fprintf(stderr, ACE ": no bullet of '%s' fits\n", ace->dataset);
    return found->n_hits ? COMMAND_OK : COMMAND_NOTHING;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void ace_prepare_put(const struct ace *ace, Renga__V1__PutPlaybookRequest *request, char name[ACE_REQUEST_ID],
                            const char *what)
{
    const char *reason = config_string(ace->client.config, "reason");
    renga__v1__put_playbook_request__init(request);
    ace_name_request(name, what);
    request->dataset = command_text(ace->dataset);
    request->request_id = name;
    request->reason = command_text(reason ? reason : what);
}

static int ace_show_put(const struct ace *ace, const Renga__V1__PutPlaybookResponse *response)
{
    if (ace->client.json)
        message_print_json(&response->base);
    else if (!ace->quiet)
        printf("revision %" PRId64 ": %d %s, about %" PRId64 " tokens\n", response->revision, response->bullets,
               ACE_BULLETS(response->bullets), response->tokens);
    return COMMAND_OK;
}

int ace_playbook_undo(struct ace *ace)
{
    Renga__V1__RestorePlaybookRequest request = RENGA__V1__RESTORE_PLAYBOOK_REQUEST__INIT;
    const char *reason = config_string(ace->client.config, "reason");
    char name[ACE_REQUEST_ID];
    int64_t revision = 0;
    if (ace->rest_count && !ace_read_revision(ace, ace->rest[0], &revision))
        return COMMAND_USAGE;
    const Renga__V1__GetPlaybookResponse *now =
        ace_get_playbook(ace, 0, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_UNSPECIFIED);
    if (!now)
        return ace_exit(ace);
    ace_name_request(name, "undo");
    request.dataset = command_text(ace->dataset);
    request.revision = ace->rest_count ? revision : now->revision - 1;
    request.expected_revision = now->revision;
    request.request_id = name;
    request.reason = command_text(reason);
    const Renga__V1__RestorePlaybookResponse *response =
        (const Renga__V1__RestorePlaybookResponse *)ace_ask(ace, ace->tool_runner, "RestorePlaybook", &request.base);
    if (!response)
        return ace_exit(ace);
    if (ace->client.json)
        message_print_json(&response->base);
    else if (!ace->quiet)
        printf("revision %" PRId64 ": %d %s, as in revision %" PRId64 "\n", response->revision, response->bullets,
               ACE_BULLETS(response->bullets), request.revision);
    return COMMAND_OK;
}

static bool ace_is_json(const struct ace *ace, const char *path)
{
    size_t length = path ? strlen(path) : 0;
    return strcmp(config_string(ace->client.config, "format"), "json") == 0 ||
           (length > 5 && strcmp(path + length - 5, ".json") == 0);
}

int ace_playbook_import(struct ace *ace)
{
    Renga__V1__PutPlaybookRequest request;
    struct buffer text;
    struct status st = {0};
    char name[ACE_REQUEST_ID];
    const char *path = ace->rest[0];
    buffer_init(&text, TEXT_MAX);
    if (!file_read(path, &text, &st)) {
        fprintf(stderr, ACE ": %s\n", st.text);
        buffer_fini(&text);
        return COMMAND_USAGE;
    }
    ace_prepare_put(ace, &request, name, "import");
    request.replace = config_boolean(ace->client.config, "replace");
    request.text = command_text(buffer_text(&text));
    request.format = ace_is_json(ace, path) ? RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON
                                            : RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_TEXT;
    const Renga__V1__PutPlaybookResponse *response =
        (const Renga__V1__PutPlaybookResponse *)ace_ask(ace, ace->tool_runner, "PutPlaybook", &request.base);
    buffer_fini(&text);
    if (!response)
        return ace_exit(ace);
    for (size_t i = 0; i < response->n_problems; i++) {
        fprintf(stderr, "%s:%d: ", path, response->problems[i]->number);
        show_text_on(stderr, response->problems[i]->text);
        fputc('\n', stderr);
    }
    if (response->problem_count > (int32_t)response->n_problems)
        fprintf(stderr, "%s: and %d lines more\n", path, response->problem_count - (int32_t)response->n_problems);
    return ace_show_put(ace, response);
}

int ace_playbook_export(struct ace *ace)
{
    const char *output = config_string(ace->client.config, "output");
    struct status st = {0};
    int64_t revision = 0;
    if (ace->rest_count && !ace_read_revision(ace, ace->rest[0], &revision))
        return COMMAND_USAGE;
    if (output && !command_check_out("--output", output, &st)) {
        fprintf(stderr, ACE ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    const Renga__V1__GetPlaybookResponse *playbook =
        ace_get_playbook(ace, revision,
                         ace_is_json(ace, output) ? RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON
                                                  : RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_TEXT);
    if (!playbook)
        return ace_exit(ace);
    FILE *out = output ? fopen(output, "we") : stdout;
    bool written = out && fputs(playbook->text, out) >= 0 && fflush(out) == 0;
    if (output && out)
        written = fclose(out) == 0 && written;
    if (!written && output)
        fprintf(stderr, ACE ": %s: it cannot be written: %s\n", output, strerror(errno));
    return written || !output ? COMMAND_OK : COMMAND_FAILED;
}

int ace_playbook_delete(struct ace *ace)
{
    Renga__V1__DeletePlaybookRequest request = RENGA__V1__DELETE_PLAYBOOK_REQUEST__INIT;
    if (!config_boolean(ace->client.config, "yes")) {
        fprintf(stderr, ACE ": the playbook '%s' would be gone with its history; --yes does it\n", ace->dataset);
        return COMMAND_USAGE;
    }
    request.dataset = command_text(ace->dataset);
    const Renga__V1__DeletePlaybookResponse *response =
        (const Renga__V1__DeletePlaybookResponse *)ace_ask(ace, ace->tool_runner, "DeletePlaybook", &request.base);
    if (!response)
        return ace_exit(ace);
    if (ace->client.json)
        message_print_json(&response->base);
    else if (!ace->quiet)
        printf("%d %s removed\n", response->bullets, ACE_BULLETS(response->bullets));
    return COMMAND_OK;
}

/* ---- proposals --------------------------------------------------------------------------------------------------- */

static const char *ace_kind_word(Renga__V1__PlaybookOperationKind kind)
{
    static const char *const words[] = {"?", "add", "update", "merge", "delete", "count"};
    return (unsigned)kind < sizeof words / sizeof *words ? words[kind] : words[0];
}

static void ace_show_proposal(const struct ace *ace, const Renga__V1__PlaybookProposal *proposal,
                              const Renga__V1__GetPlaybookResponse *playbook)
{
    const Renga__V1__PlaybookOperation *operation = proposal->operation;
    fputs(colour(&ace->client, BOLD), stdout);
    show_text(proposal->id);
    printf("%s %s", colour(&ace->client, PLAIN), ace_kind_word(operation->kind));
    for (size_t i = 0; i < operation->n_ids; i++) {
        putchar(' ');
        show_text(operation->ids[i]);
    }
    printf(": ");
    show_text(operation->content);
    printf("\n    %.0f %% like ", 100 * proposal->similarity);
    show_text(proposal->similar_id);
    for (size_t i = 0; i < playbook->n_bullets; i++)
        if (strcmp(playbook->bullets[i]->id, proposal->similar_id) == 0) {
            printf(": ");
            show_text(playbook->bullets[i]->content);
        }
    printf("\n    ");
    show_text(proposal->reason);
    putchar('\n');
}

int ace_playbook_proposals(struct ace *ace)
{
    const Renga__V1__GetPlaybookResponse *playbook =
        ace_get_playbook(ace, 0, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_UNSPECIFIED);
    if (!playbook)
        return ace_exit(ace);
    for (size_t i = 0; i < playbook->n_proposals; i++)
        if (ace->client.json)
            message_print_json(&playbook->proposals[i]->base);
        else
            ace_show_proposal(ace, playbook->proposals[i], playbook);
    if (playbook->n_proposals && ace->client.terminal)
        printf("'renga ace playbook accept %s ID...' applies them, 'reject' removes them\n", ace->dataset);
    if (!playbook->n_proposals)
        fputs(ACE ": nothing is proposed\n", stderr);
    return COMMAND_OK;
}

static int ace_decide(struct ace *ace, bool accepts)
{
    Renga__V1__PutPlaybookRequest request;
    char name[ACE_REQUEST_ID];
    char **ids = (char **)(uintptr_t)ace->rest;
    ace_prepare_put(ace, &request, name, accepts ? "accept" : "reject");
    if (accepts) {
        request.accept_proposals = ids;
        request.n_accept_proposals = ace->rest_count;
    } else {
        request.reject_proposals = ids;
        request.n_reject_proposals = ace->rest_count;
    }
    const Renga__V1__PutPlaybookResponse *response =
        (const Renga__V1__PutPlaybookResponse *)ace_ask(ace, ace->tool_runner, "PutPlaybook", &request.base);
    return response ? ace_show_put(ace, response) : ace_exit(ace);
}

int ace_playbook_accept(struct ace *ace)
{
    return ace_decide(ace, true);
}

int ace_playbook_reject(struct ace *ace)
{
    return ace_decide(ace, false);
}
