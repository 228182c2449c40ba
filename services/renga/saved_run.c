#include "saved_run.h"

#include "base/file.h"
#include "base/text.h"
#include "nodes/trajectory_json.h"
#include "wrap.h"
#include "json/json.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER       "asked"
#define ENDING       ".json"
#define FILE_MAX     ((size_t)16 << 20) /* bytes: a trajectory as JSON */
#define ANSWER_MAX   ((size_t)131072)   /* bytes of an answer that are kept: as many as feedback reads */
#define LOOK_MS      5000
#define UNFINISHED_S 3600 /* a file that is not complete by then never will be */
#define MEMORY       ((size_t)1 << 20)

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool saved_run_folder(char out[PATH_MAX])
{
    char folder[PATH_MAX];
    if (!command_data_folder(folder) || strlen(folder) + sizeof "/" FOLDER + SAVED_RUN_ID + 16 > PATH_MAX)
        return false;
    snprintf(out, PATH_MAX, "%.*s/" FOLDER, PATH_MAX - SAVED_RUN_ID - 32, folder);
    return mkdir(out, 0700) == 0 || access(out, W_OK | X_OK) == 0;
}

static bool saved_run_is_id(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return length && length < SAVED_RUN_ID && !text[length];
}

static bool saved_run_path(const char *id, char out[PATH_MAX])
{
    if (!saved_run_is_id(id) || !saved_run_folder(out))
        return false;
    size_t used = strlen(out);
    snprintf(out + used, PATH_MAX - used, "/%s" ENDING, id);
    return true;
}

/* The id of a file's name; false for other files. */
static bool saved_run_of_file(const char *name, char id[SAVED_RUN_ID])
{
    size_t length = strlen(name), ending = sizeof ENDING - 1;
    if (length <= ending || length - ending >= SAVED_RUN_ID || strcmp(name + length - ending, ENDING) != 0)
        return false;
    snprintf(id, SAVED_RUN_ID, "%.*s", (int)(length - ending), name);
    return saved_run_is_id(id);
}

static bool saved_run_is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* The number of saved runs, and the oldest or the newest of them. */
static size_t saved_run_survey(bool newest, char id[SAVED_RUN_ID])
{
    char folder[PATH_MAX], one[SAVED_RUN_ID];
    struct timespec found = {0};
    struct stat about;
    size_t count = 0;
    DIR *files = saved_run_folder(folder) ? opendir(folder) : NULL;
    for (struct dirent *file; files && (file = readdir(files));) {
        if (!saved_run_of_file(file->d_name, one) ||
            fstatat(dirfd(files), file->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode))
            continue;
        if (!count++ || saved_run_is_before(&about.st_mtim, &found) != newest) {
            found = about.st_mtim;
            strcpy(id, one);
        }
    }
    if (files)
        closedir(files);
    return count;
}

/* "ID.json.PID", as saved_run_put names a file until it is complete. */
static bool saved_run_is_unfinished(const char *name)
{
    char complete[SAVED_RUN_ID + sizeof ENDING], id[SAVED_RUN_ID];
    const char *dot = strrchr(name, '.');
    if (!dot || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")] || (size_t)(dot - name) >= sizeof complete)
        return false;
    snprintf(complete, sizeof complete, "%.*s", (int)(dot - name), name);
    return saved_run_of_file(complete, id);
}

/* Removes files that a command did not complete before it was killed, and empty folders with the name of a run. */
static void saved_run_sweep(void)
{
    char folder[PATH_MAX], id[SAVED_RUN_ID];
    struct stat about;
    time_t now = time(NULL);
    DIR *files = saved_run_folder(folder) ? opendir(folder) : NULL;
    for (struct dirent *file; files && (file = readdir(files));) {
        bool unfinished = saved_run_is_unfinished(file->d_name);
        if ((!unfinished && (file->d_type != DT_DIR || !saved_run_of_file(file->d_name, id))) ||
            fstatat(dirfd(files), file->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            now - about.st_mtim.tv_sec < UNFINISHED_S)
            continue;
        unlinkat(dirfd(files), file->d_name, S_ISDIR(about.st_mode) ? AT_REMOVEDIR : 0);
    }
    if (files)
        closedir(files);
}

static void saved_run_prune(void)
{
    char path[PATH_MAX], id[SAVED_RUN_ID];
    saved_run_sweep();
    while (saved_run_survey(false, id) > SAVED_RUNS_MAX && saved_run_path(id, path))
        if (unlink(path) != 0)
            return;
}

/* Under another name first, so that a file is complete. */
static bool saved_run_put(const char *id, const char *text)
{
    char path[PATH_MAX], made[PATH_MAX + 16];
    if (!saved_run_path(id, path))
        return false;
    snprintf(made, sizeof made, "%s.%d", path, (int)getpid());
    int file = open(made, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    size_t length = strlen(text);
    bool written = write(file, text, length) == (ssize_t)length;
    written = close(file) == 0 && written && rename(made, path) == 0;
    if (!written)
        unlink(made);
    return written;
}

static bool saved_run_write_file(const char *id, const Renga__V1__Trajectory *trajectory)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, FILE_MAX);
    json_writer_init(&out, &text);
    trajectory_write_json(&out, NULL, trajectory);
    bool written = json_writer_done(&out) && saved_run_put(id, buffer_text(&text));
    buffer_fini(&text);
    if (written)
        saved_run_prune();
    return written;
}

void saved_run_write_trajectory(const char *id, const Renga__V1__Trajectory *trajectory)
{
    saved_run_write_file(id, trajectory);
}

/* ---- the run, as its command ends -------------------------------------------------------------------------------- */

struct saved_lessons {
    struct arena *arena;
    char *dataset, *ids[TRAJECTORY_IDS_MAX];
    size_t count;
};

static void saved_run_state_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const char *json = ((const Renga__V1__GetStateResponse *)message)->state_json;
    struct saved_lessons *lessons = data;
    struct status st = {0};
    (void)client;
    cJSON *state = json_parse(json, strlen(json), NULL, &st);
    const cJSON *used = cJSON_GetObjectItemCaseSensitive(state, "playbook_used"), *id;
    const char *dataset = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(used, "dataset"));
    if (dataset)
        lessons->dataset = arena_strdup(lessons->arena, dataset);
    cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(used, "bullet_ids"))
    {
        char *text = cJSON_IsString(id) ? arena_strdup(lessons->arena, id->valuestring) : NULL;
        if (text && lessons->count < TRAJECTORY_IDS_MAX)
            lessons->ids[lessons->count++] = text;
    }
    cJSON_Delete(state);
}

static void saved_run_read_lessons(const struct saved_run *run, const struct orchestrator_client *client,
                                   struct saved_lessons *lessons)
{
    struct orchestrator_client asking = *client;
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    char *fields[] = {command_text("playbook_used")};
    asking.orchestrator = process_stub(client->process, &renga__v1__orchestrator__descriptor, &asking.status);
    request.thread_id = command_text(run->thread_id);
    request.fields = fields;
    request.n_fields = 1;
    if (asking.orchestrator)
        orchestrator_client_try(&asking, "GetState", &request.base, LOOK_MS, saved_run_state_received, lessons);
}

static void saved_run_print_hint(const struct saved_run *run, const struct orchestrator_client *client)
{
    char text[4 * SAVED_RUN_ID];
    snprintf(text, sizeof text, "%crun %s; if it is wrong: renga feedback %s bad \"WHY\"%c", WRAP_DIM, run->id, run->id,
             WRAP_PLAIN);
    if (client->terminal)
        putchar('\n');
    wrap_text_on(client->terminal ? stdout : stderr, text, 0, client->terminal ? command_terminal_width() - 1 : 0,
                 client->colours);
}

void saved_run_take(struct saved_run *run, const Renga__V1__AgentOutcome *outcome, const char *answer)
{
    size_t length = strlen(answer);
    if (!outcome || run->answer)
        return;
    snprintf(run->id, sizeof run->id, "%s", outcome->run_id);
    snprintf(run->thread_id, sizeof run->thread_id, "%s", outcome->thread_id);
    run->answer = strndup(answer, text_cut(answer, length, ANSWER_MAX));
}

void saved_run_write(struct saved_run *run, const struct orchestrator_client *client, const char *agent,
                     const char *query, bool tells)
{
    struct arena memory;
    Renga__V1__Trajectory trajectory = RENGA__V1__TRAJECTORY__INIT;
    arena_init(&memory, NULL, 0, MEMORY);
    struct saved_lessons lessons = {.arena = &memory};
    if (run->answer && *run->id) {
        saved_run_read_lessons(run, client, &lessons);
        trajectory.query = arena_strndup(&memory, query, text_cut(query, strlen(query), TRAJECTORY_QUERY_MAX));
        trajectory.dataset = lessons.dataset ? lessons.dataset : command_text(agent);
        trajectory.generated_answer = run->answer;
        trajectory.used_bullet_ids = lessons.ids;
        trajectory.n_used_bullet_ids = lessons.count;
        trajectory.status = RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_SUCCESS;
        trajectory.created_ms = (int64_t)time(NULL) * 1000;
        if (trajectory.query && saved_run_write_file(run->id, &trajectory) && tells)
            saved_run_print_hint(run, client);
    }
    arena_fini(&memory);
    free(run->answer);
    run->answer = NULL;
}

/* ---- read again -------------------------------------------------------------------------------------------------- */

bool saved_run_find(int argc, char **argv, char id[SAVED_RUN_ID])
{
    char path[PATH_MAX];
    struct stat about;
    for (int i = 1; i < argc && strcmp(argv[i], "good") != 0 && strcmp(argv[i], "bad") != 0; i++) {
        if (strcmp(argv[i], SAVED_RUN_LAST) == 0)
            return saved_run_survey(true, id) > 0;
        if (!saved_run_path(argv[i], path) || lstat(path, &about) != 0 || !S_ISREG(about.st_mode))
            continue;
        strcpy(id, argv[i]);
        return true;
    }
    return false;
}

Renga__V1__Trajectory *saved_run_read(const char *id, struct arena *arena, struct status *st)
{
    char path[PATH_MAX];
    struct buffer text;
    Renga__V1__Trajectory *trajectory = NULL;
    if (!saved_run_path(id, path)) {
        fail(st, NOT_FOUND, "the run '%s' is not kept here", id);
        return NULL;
    }
    buffer_init(&text, FILE_MAX);
    if (file_read(path, &text, st))
        trajectory = trajectory_parse_json(buffer_text(&text), text.length, arena, st);
    buffer_fini(&text);
    return trajectory;
}
