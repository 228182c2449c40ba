/* `renga index`: a folder of documents into the knowledge base; a bar on a terminal, lines in a pipe. */
#include "index.h"

#include "base/clock.h"
#include "gateway.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"
#include "tool_runner.h"
#include "wrap.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define NAME          "renga index"
#define DAY_MS        (24LL * 3600 * 1000)
#define BAR_CELLS     30
#define BUSY_PAUSE_MS 250  /* before a collection that another process writes is tried again */
#define LOOK_MS       2000 /* for the question whether there are documents */

static const struct option options[] = {
    STRING_OPTION(
        "collection", NULL, "NAME",
        "The collection that becomes the folder's mirror: a-z, 0-9, \"_\" and \"-\". Unset: the folder's name."),
    BOOLEAN_OPTION("rebuild", "false", "Read every file anew, also those that have not changed."),
    BOOLEAN_OPTION("json", "false", "Print the progress as JSON, an object a line."),
    DURATION_OPTION("timeout", "1h", 1, DAY_MS,
                    "How long it may take. What is done by then stays, and the same command does the rest."),
    CONNECT_OPTION(
        "Bring it to a tool-runner that runs, HOST:PORT of it or of 'renga serve': the folder is one that it "
        "can read, by its whole path."),
    {0},
};

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static bool has_bar(const struct index *index)
{
    return index->show == INDEX_SHOW_BAR || index->show == INDEX_SHOW_BRIEF;
}

static void erase_bar(const struct index *index)
{
    if (has_bar(index))
        fputs("\r\033[K", stdout);
}

static void show_skipped(struct index *index, const Renga__V1__IndexDocumentsProgress *progress)
{
    FILE *out = index->show == INDEX_SHOW_SKIPPED ? stderr : stdout;
    for (size_t i = 0; i < progress->n_skipped; i++) {
        erase_bar(index);
        fputs(has_bar(index) && command_in_colours() ? YELLOW "skipped " PLAIN : "skipped ", out);
        show_text_on(out, progress->skipped[i]->part);
        fputs(": ", out);
        show_text_on(out, progress->skipped[i]->reason);
        fputc('\n', out);
    }
    index->skipped += (int64_t)progress->n_skipped;
}

/* The end of a path that fits. */
static const char *end_of(const char *path, size_t columns)
{
    for (size_t first; wrap_columns(path) > columns; path += first ? first : 1)
        first = wrap_fit(path, 2);
    return path;
}

/* Fits a single line of the terminal: a broken line could not be erased. */
static void show_bar(const struct index *index, const Renga__V1__IndexDocumentsProgress *progress)
{
    char counts[96];
    bool coloured = command_in_colours();
    int64_t total = progress->files_total, done = progress->files_done < total ? progress->files_done : total;
    size_t columns = command_terminal_width();
    int cells = total ? (int)(BAR_CELLS * done / total) : 0;
    int used = snprintf(counts, sizeof counts, " %" PRId64 "/%" PRId64 " files, %" PRId64 " paragraphs ", done, total,
                        progress->paragraphs);
    erase_bar(index);
    fputs(coloured ? GREEN : "", stdout);
    for (int i = 0; columns > (size_t)used + BAR_CELLS && i < BAR_CELLS; i++)
        fputs(i < cells ? "█" : "·", stdout);
    size_t taken = (size_t)used + BAR_CELLS + 1;
    printf("%s%s%s", coloured ? PLAIN : "", counts, coloured ? DIM : "");
    show_text(end_of(progress->file, columns > taken ? columns - taken : 0));
    fputs(coloured ? PLAIN : "", stdout);
}

static void show_line(struct index *index, const Renga__V1__IndexDocumentsProgress *progress)
{
    int64_t now_ns = clock_now_ns();
    if (!progress->files_total || now_ns - index->shown_ns < NS_PER_SEC)
        return;
    index->shown_ns = now_ns;
    printf("%" PRId64 "/%" PRId64 " files, %" PRId64 " paragraphs\n", progress->files_done, progress->files_total,
           progress->paragraphs);
}

static void index_show_end(const struct index *index, const Renga__V1__IndexDocumentsProgress *progress)
{
    erase_bar(index);
    if (index->show == INDEX_SHOW_BRIEF && progress->files_unchanged == progress->files_done)
        return;
    printf("%s: %" PRId64 " files (%" PRId64 " unchanged, %" PRId64 " removed, %" PRId64 " skipped), %" PRId64
           " paragraphs written in %.1f s\n",
           index->collection, progress->files_done, progress->files_unchanged, progress->files_removed, index->skipped,
           progress->paragraphs, (double)(clock_now_ns() - index->began_ns) / 1e9);
}

static void progress_received(const Renga__V1__IndexDocumentsProgress *progress, void *data)
{
    struct index *index = ((struct rpc_client_call *)data)->owner;
    if (!progress) {
        if (!index->ended)
            erase_bar(index);
        fflush(stdout);
        command_call_ended(&index->call);
        return;
    }
    index->ended = progress->done;
    index->files = progress->files_done;
    if (index->show == INDEX_SHOW_JSON) {
        message_print_json(&progress->base);
    } else {
        show_skipped(index, progress);
        if (index->show == INDEX_SHOW_SKIPPED)
            return;
        if (progress->done)
            index_show_end(index, progress);
        else if (has_bar(index))
            show_bar(index, progress);
        else
            show_line(index, progress);
    }
    fflush(stdout);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void index_begin(struct command_call *call)
{
    struct index *index = (struct index *)call;
    Renga__V1__IndexDocumentsRequest request = RENGA__V1__INDEX_DOCUMENTS_REQUEST__INIT;
    request.collection = index->collection;
    request.source_case = RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_FOLDER;
    request.folder = index->folder;
    request.rebuild = index->rebuild;
    renga__v1__tool_runner__index_documents(index->tool_runner, &request, progress_received, &call->call);
}

/* A name that a collection may have, after the folder's own. */
static void name_collection(struct index *index)
{
    const char *name = strrchr(index->folder, '/') + 1;
    size_t length = 0;
    bool named = false;
    for (; *name && length < COLLECTION_MAX; name++) {
        unsigned char c = (unsigned char)*name;
        if (c >= 0x80 && length && index->collection[length - 1] == '-')
            continue;
        bool kept = c < 0x80 && (isalnum(c) || c == '_');
        named |= kept;
        index->collection[length++] = (char)(kept ? tolower(c) : '-');
    }
    index->collection[length] = '\0';
    if (!named)
        strcpy(index->collection, "documents");
}

/* Folders of the same name in different places get different suffixes. */
static void name_distinct(struct index *index)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = index->folder; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    size_t length = strlen(index->collection), room = COLLECTION_MAX - 9;
    length = length < room ? length : room;
    snprintf(index->collection + length, sizeof index->collection - length, "-%08" PRIx32, hash);
}

bool index_prepare(struct index *index, const char *path, const char *collection, bool distinct, bool here,
                   struct status *st)
{
    if (!realpath(path, index->folder)) {
        if (here || *path != '/' || strlen(path) >= sizeof index->folder)
            return fail(st, INVALID_ARGUMENT, "there is no folder '%s'", path);
        strcpy(index->folder, path);
    }
    struct stat found;
    if (here && stat(index->folder, &found) == 0 && !S_ISDIR(found.st_mode))
        return fail(st, INVALID_ARGUMENT, "'%s' is no folder; give the folder that holds it", path);
    if (collection && strlen(collection) > COLLECTION_MAX)
        return fail(st, INVALID_ARGUMENT, "--collection has %zu bytes; at most %d are possible", strlen(collection),
                    COLLECTION_MAX);
    if (collection) {
        strcpy(index->collection, collection);
        return true;
    }
    name_collection(index);
    if (distinct)
        name_distinct(index);
    return true;
}

/* While another command writes the collection, this command waits, and then finds most of the files unchanged. */
static bool index_call(struct index *index, struct daemon_process *process, int64_t until_ns, const char *command)
{
    const struct timespec pause = {.tv_nsec = BUSY_PAUSE_MS * NS_PER_MS};
    for (bool told = false;; told = true) {
        int64_t left_ms = (until_ns - clock_now_ns()) / NS_PER_MS;
        command_call_prepare(&index->call, process, left_ms > 1 ? left_ms : 1);
        if (command_call_wait(&index->call))
            return true;
        if (index->call.call.status.code != ABORTED || command_interrupted() || left_ms <= BUSY_PAUSE_MS)
            return false;
        if (!told)
            fprintf(stderr, "%s: another command is reading this folder; waiting for it\n", command);
        nanosleep(&pause, NULL);
    }
}

bool index_run(struct index *index, struct daemon_process *process, int64_t timeout_ms, const char *command)
{
    struct status st = {0};
    index->tool_runner = process_stub(process, &renga__v1__tool_runner__descriptor, &st);
    if (!index->tool_runner) {
        fprintf(stderr, "%s: %s\n", command, st.text);
        return false;
    }
    index->call.begin = index_begin;
    index->began_ns = clock_now_ns();
    if (index_call(index, process, index->began_ns + timeout_ms * NS_PER_MS, command))
        return true;
    command_call_report(&index->call, command);
    return false;
}

/* ---- the documents of a question --------------------------------------------------------------------------------- */

static void index_knowledge_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    (void)client;
    const Renga__V1__GetKnowledgeBaseResponse *base = (const Renga__V1__GetKnowledgeBaseResponse *)message;
    bool empty = true;
    for (size_t i = 0; i < base->n_collections; i++)
        empty = empty && base->collections[i]->documents == 0;
    *(bool *)data = empty;
}

/* Says so if the knowledge base has no documents. A suite that does not tell is taken to have some. */
static void index_look_for_documents(struct index *index, struct orchestrator_client *client)
{
    struct status st = {0};
    Renga__V1__GetKnowledgeBaseRequest request = RENGA__V1__GET_KNOWLEDGE_BASE_REQUEST__INIT;
    ProtobufCService *tool_runner = process_stub(client->process, &renga__v1__tool_runner__descriptor, &st);
    if (tool_runner)
        orchestrator_client_try_service(client, tool_runner, "GetKnowledgeBase", &request.base, LOOK_MS,
                                        index_knowledge_received, &index->empty);
    if (index->empty)
        fprintf(stderr, "%s: no documents have been indexed; bring some in by --docs FOLDER or 'renga index FOLDER'\n",
                client->command);
}

int index_bring_documents(struct index *index, struct orchestrator_client *client, bool live, const char **collection)
{
    struct status st = {0};
    const char *folder = config_string(client->config, "docs"), *name = config_string(client->config, "collection");
    *collection = folder ? index->collection : name;
    if (!folder && !name && !index->optional)
        index_look_for_documents(index, client);
    if (!folder)
        return COMMAND_OK;
    if (!index_prepare(index, folder, name, true, !config_string(client->config, CONNECT), &st)) {
        fprintf(stderr, "%s: %s\n", client->command, st.text);
        return COMMAND_USAGE;
    }
    index->show = live ? INDEX_SHOW_BRIEF : INDEX_SHOW_SKIPPED;
    index->call.cancels = true;
    if (index_run(index, client->process, config_duration_ms(client->config, "timeout"), client->command)) {
        index->empty = !index->files;
        if (index->empty)
            fprintf(stderr, "%s: in '%s' there is no document that can be read\n", client->command, folder);
        return COMMAND_OK;
    }
    return command_interrupted() ? COMMAND_INTERRUPTED : COMMAND_FAILED;
}

static int index_folder(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    struct index index = {.rebuild = config_boolean(config, "rebuild")};
    const char *peer = config_string(config, "peers.tool_runner");
    bool here = !config_string(config, CONNECT) && (!peer || !*peer);
    const char *const *arguments = command_arguments(config, NAME, 1, 1, "give one folder", NULL);
    if (!arguments)
        return COMMAND_USAGE;
    if (!index_prepare(&index, arguments[0], config_string(config, "collection"), false, here, &st)) {
        fprintf(stderr, NAME ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    if (here && strcmp(config_string(config, "tool_runner.store"), "memory:") == 0) {
        fputs(NAME ": tool_runner.store is memory:, which ends with this command; name a file\n", stderr);
        return COMMAND_USAGE;
    }
    index.show = config_boolean(config, "json") ? INDEX_SHOW_JSON
                 : command_on_terminal()        ? INDEX_SHOW_BAR
                                                : INDEX_SHOW_LINES;
    return index_run(&index, process, config_duration_ms(config, "timeout"), NAME) ? COMMAND_OK : COMMAND_FAILED;
}

/* This process serves no other user, so its caller may index every file that it may read. */
static int run(int argc, char **argv)
{
    static const struct service *const runner[] = {&tool_runner_service, &llm_gateway_service, NULL};
    static const struct peer peers[] = {{CONNECT, &renga__v1__tool_runner__descriptor},
                                        {"peers.tool_runner", &renga__v1__tool_runner__descriptor},
                                        {"peers.llm_gateway", &renga__v1__llm_gateway__descriptor},
                                        {0}};
    static const struct daemon_default defaults[] = {{"tool_runner.roots", "/"}, {0}};
    struct daemon daemon =
        command_daemon(NAME, "brings a folder of documents into the knowledge base: Markdown, HTML, text and CSV.",
                       runner, argc, argv);
    daemon.usage = NAME " [OPTIONS] FOLDER";
    daemon.examples = NAME " ~/handbook\n" NAME " --connect 127.0.0.1:15000 --collection handbook /srv/handbook\n";
    daemon.extra_options = options;
    daemon.defaults = *daemon.services ? defaults : NULL;
    daemon.peers = peers;
    return command_with_process(&daemon, argc, argv, index_folder);
}

const struct command command_index = {
    .name = "index",
    .summary = "bring a folder of documents into the knowledge base",
    .run = run,
};
