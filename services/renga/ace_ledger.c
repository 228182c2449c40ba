/* The progress of a learning, on disk: the same command resumes after Ctrl-C, a crash or a lost suite, and sends no
 * paid request twice. A line is {"stage", "epoch", "first", "run"} for a request that was accepted, with "result" when
 * it has ended.
 */
#include "ace.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/random.h"
#include "base/sha256.h"
#include "rpc/message_json.h"
#include "json/json.h"
#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEDGER_MAX ((size_t)64 << 20) /* bytes */
#define LINE_ROOM  ((size_t)1 << 20)

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static bool ace_ledger_place(struct ace_ledger *ledger, const char *identity)
{
    char folder[PATH_MAX];
    uint8_t hash[SHA256_SIZE];
    *ledger->path = '\0';
    if (!command_data_folder(folder))
        return false;
    sha256_of(identity, strlen(identity), hash);
    int used = snprintf(ledger->path, sizeof ledger->path, "%.*s/learning", (int)sizeof ledger->path - 64, folder);
    mkdir(ledger->path, 0700);
    used += snprintf(ledger->path + used, sizeof ledger->path - (size_t)used, "/");
    for (size_t i = 0; i < 16; i++)
        used += snprintf(ledger->path + used, sizeof ledger->path - (size_t)used, "%02x", hash[i]);
    snprintf(ledger->path + used, sizeof ledger->path - (size_t)used, ".jsonl");
    return true;
}

static void ace_ledger_append(const struct ace_ledger *ledger, const char *line)
{
    FILE *file = *ledger->path ? fopen(ledger->path, "ae") : NULL;
    if (!file)
        return;
    fprintf(file, "%s\n", line);
    fflush(file);
    fsync(fileno(file));
    fclose(file);
}

/* Lines that a crash has cut are passed over. */
static void ace_ledger_parse(struct ace_ledger *ledger, const char *text, size_t length)
{
    struct status st = {0};
    for (const char *line = text, *end = text + length; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            break;
        cJSON *row = json_parse(line, (size_t)(stop - line), NULL, &st);
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(row, "id");
        if (cJSON_IsString(id) && strlen(id->valuestring) < sizeof ledger->id)
            strcpy(ledger->id, id->valuestring);
        if (cJSON_IsObject(row))
            cJSON_AddItemToArray(ledger->lines, row);
        else
            cJSON_Delete(row);
        line = stop + 1;
    }
}

void ace_ledger_open(struct ace_ledger *ledger, const char *identity, bool anew)
{
    struct buffer text;
    struct status st = {0};
    char line[64];
    *ledger = (struct ace_ledger){.lines = cJSON_CreateArray()};
    bool placed = ace_ledger_place(ledger, identity);
    buffer_init(&text, LEDGER_MAX);
    if (placed && anew)
        unlink(ledger->path);
    if (placed && file_read(ledger->path, &text, &st))
        ace_ledger_parse(ledger, buffer_text(&text), text.length);
    buffer_fini(&text);
    ledger->accepted = cJSON_GetArraySize(ledger->lines) > 1;
    if (*ledger->id)
        return;
    snprintf(ledger->id, sizeof ledger->id, "%016" PRIx64 "%015" PRIx64, random_u64(), random_u64() >> 4);
    snprintf(line, sizeof line, "{\"id\":\"%s\"}", ledger->id);
    ace_ledger_append(ledger, line);
}

void ace_ledger_close(struct ace_ledger *ledger, bool done)
{
    if ((done || !ledger->accepted) && *ledger->path)
        unlink(ledger->path);
    cJSON_Delete(ledger->lines);
    ledger->lines = NULL;
}

/* ---- its lines --------------------------------------------------------------------------------------------------- */

static bool ace_ledger_number_is(const cJSON *line, const char *key, double wanted)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(line, key);
    return cJSON_IsNumber(number) && number->valuedouble == wanted;
}

/* The last line of the step that has `key`. */
static const cJSON *ace_ledger_find(const struct ace_ledger *ledger, const struct ace_step *step, const char *key)
{
    const cJSON *line, *found = NULL;
    cJSON_ArrayForEach(line, ledger->lines)
    {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(line, key);
        if (value && ace_ledger_number_is(line, "stage", step->stage) &&
            ace_ledger_number_is(line, "epoch", step->epoch) &&
            ace_ledger_number_is(line, "first", (double)step->first))
            found = value;
    }
    return found;
}

const char *ace_ledger_run(const struct ace_ledger *ledger, const struct ace_step *step)
{
    return cJSON_GetStringValue(ace_ledger_find(ledger, step, "run"));
}

const Renga__V1__AdaptResult *ace_ledger_result(const struct ace_ledger *ledger, const struct ace_step *step,
                                                struct arena *arena)
{
    struct status st = {0};
    const cJSON *result = ace_ledger_find(ledger, step, "result");
    return result ? (const Renga__V1__AdaptResult *)message_read_json(&renga__v1__adapt_result__descriptor, result,
                                                                      arena, &st)
                  : NULL;
}

static void ace_ledger_write(const struct ace_ledger *ledger, const struct ace_step *step, const char *run_id,
                             const Renga__V1__AdaptResult *result)
{
    struct buffer line;
    struct json_writer out;
    buffer_init(&line, LINE_ROOM);
    json_writer_init(&out, &line);
    json_write_object(&out, NULL);
    json_write_int(&out, "stage", step->stage);
    json_write_int(&out, "epoch", step->epoch);
    json_write_int(&out, "first", (int64_t)step->first);
    if (run_id)
        json_write_string(&out, "run", run_id);
    if (result)
        message_write_json(&out, "result", &result->base);
    json_write_end(&out);
    if (json_writer_done(&out))
        ace_ledger_append(ledger, buffer_text(&line));
    buffer_fini(&line);
}

void ace_ledger_accepted(struct ace_ledger *ledger, const struct ace_step *step, const char *run_id)
{
    ledger->accepted = true;
    ace_ledger_write(ledger, step, run_id, NULL);
}

void ace_ledger_ended(struct ace_ledger *ledger, const struct ace_step *step, const Renga__V1__AdaptResult *result)
{
    ace_ledger_write(ledger, step, NULL, result);
}
