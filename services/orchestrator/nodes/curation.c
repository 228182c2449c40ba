#include "curation.h"

#include "bullet_table.h"
#include "line.h"

#include "base/text.h"

#include <string.h>

#define CONTENT_MAX  8192 /* bytes, as PlaybookOperation.content */
#define SECTION_MAX  256  /* as PlaybookOperation.section */
#define REASON_MAX   1024 /* as PlaybookOperation.reason */
#define ID_MAX_BYTES 64   /* as Bullet.id */
#define COUNT_MAX    1000 /* as PlaybookOperation.helpful */
#define NAMED_MAX    (CURATION_COUNTS_MAX + (size_t)CURATION_OPERATIONS_MAX * CURATION_MERGED_MAX) /* bullets */

typedef Renga__V1__PlaybookOperation Operation;
typedef Renga__V1__PlaybookOperationKind Kind;

static void curation_look_up(struct bullet_table *table, const struct curation *curation)
{
    struct bullet_entry *entry;
    for (size_t i = 0; i < curation->seen_count; i++)
        if ((entry = bullet_table_find(table, curation->seen[i]->id, false)))
            entry->seen = curation->seen[i];
    for (size_t i = 0; i < curation->now_count; i++)
        if ((entry = bullet_table_find(table, curation->now[i]->id, false)))
            entry->now = curation->now[i];
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static void count_tags(struct bullet_table *table, const cJSON *tags)
{
    const cJSON *tag;
    cJSON_ArrayForEach(tag, tags)
    {
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tag, "id"));
        const char *effect = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tag, "effect"));
        bool helps = effect && strcmp(effect, "BULLET_EFFECT_HELPFUL") == 0;
        bool harms = effect && strcmp(effect, "BULLET_EFFECT_HARMFUL") == 0;
        struct bullet_entry *entry =
            id && (helps || harms) ? bullet_table_find(table, id, table->count < CURATION_COUNTS_MAX) : NULL;
        if (entry && helps && entry->helpful < COUNT_MAX)
            entry->helpful++;
        if (entry && harms && entry->harmful < COUNT_MAX)
            entry->harmful++;
    }
}

static Operation *curation_add(struct curation *curation, struct arena *arena, Kind kind, size_t id_count)
{
    Operation *operation = arena_alloc(arena, sizeof *operation);
    char **ids = arena_zalloc(arena, (id_count + 1) * sizeof *ids);
    if (!operation || !ids)
        return NULL;
    renga__v1__playbook_operation__init(operation);
    operation->kind = kind;
    operation->ids = ids;
    curation->list[curation->count++] = operation;
    return operation;
}

static bool curation_add_counts(struct curation *curation, const struct bullet_table *table, struct arena *arena)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct bullet_entry *entry = &table->entries[i];
        if (!entry->now || (!entry->helpful && !entry->harmful))
            continue;
        Operation *operation =
            curation_add(curation, arena, RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_COUNT, 1);
        if (!operation)
            return false;
        operation->ids[operation->n_ids++] = (char *)(uintptr_t)entry->id;
        operation->helpful = entry->helpful;
        operation->harmful = entry->harmful;
    }
    return true;
}

/* ---- operations of a model --------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    Kind kind;
    size_t least, most; /* ids */
    bool content;
} curation_kinds[] = {
    {"ADD", RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_ADD, 0, 0, true},
    {"UPDATE", RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_UPDATE, 1, 1, true},
    {"MERGE", RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_MERGE, 2, CURATION_MERGED_MAX, true},
    {"DELETE", RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_DELETE, 1, 1, false},
};
#define CURATION_KINDS (sizeof curation_kinds / sizeof *curation_kinds)

static const char *written_text(const cJSON *written, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(written, key));
    return text ? text : "";
}

/* The place in curation_kinds; CURATION_KINDS: it is no kind. */
static size_t written_kind(const cJSON *written)
{
    size_t kind = 0;
    while (kind < CURATION_KINDS && strcmp(written_text(written, "kind"), curation_kinds[kind].word) != 0)
        kind++;
    return kind;
}

/* A sentence for the model that wrote the operation. */
__attribute__((format(printf, 4, 5))) static bool refuse_written(struct status *st, size_t number, const char *word,
                                                                 const char *format, ...)
{
    struct status why = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    return fail(st, INVALID_ARGUMENT, "operation %zu (%s): %s", number, word, why.text);
}

/* Form alone: kind, number of ids, texts. */
static bool written_check(const cJSON *written, size_t number, struct status *st)
{
    size_t kind = written_kind(written);
    const char *section = written_text(written, "section"), *content = written_text(written, "content");
    const cJSON *ids = cJSON_GetObjectItemCaseSensitive(written, "ids"), *id;
    size_t id_count = (size_t)cJSON_GetArraySize(ids);
    if (kind == CURATION_KINDS)
        return refuse_written(st, number, "?", "the kind is '%.64s'; it must be ADD, UPDATE, MERGE or DELETE",
                              written_text(written, "kind"));
    const char *word = curation_kinds[kind].word;
    if (id_count < curation_kinds[kind].least || id_count > curation_kinds[kind].most)
        return refuse_written(st, number, word, "has %zu ids; %zu to %zu are allowed", id_count,
                              curation_kinds[kind].least, curation_kinds[kind].most);
    cJSON_ArrayForEach(id, ids)
    {
        if (!cJSON_IsString(id) || !*id->valuestring || strlen(id->valuestring) > ID_MAX_BYTES)
            return refuse_written(st, number, word, "an id must be a string of 1 to %d bytes", ID_MAX_BYTES);
    }
    if (curation_kinds[kind].content && text_is_blank(content))
        return refuse_written(st, number, word, "the content is blank; say one thing");
    if (strlen(content) > CONTENT_MAX)
        return refuse_written(st, number, word, "the content has %zu bytes; at most %d are allowed", strlen(content),
                              CONTENT_MAX);
    if (strlen(section) > SECTION_MAX || strpbrk(section, "\r\n"))
        return refuse_written(st, number, word, "the section must be one line of at most %d bytes", SECTION_MAX);
    if (curation_kinds[kind].kind == RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_ADD &&
        text_is_blank(section))
        return refuse_written(st, number, word, "the section is blank; name one");
    return true;
}

static bool written_check_all(const cJSON *list, struct status *st)
{
    const cJSON *written;
    size_t number = 0;
    if (cJSON_GetArraySize(list) > CURATION_OPERATIONS_MAX)
        return fail(st, INVALID_ARGUMENT, "there are %d operations; at most %d are taken at once",
                    cJSON_GetArraySize(list), CURATION_OPERATIONS_MAX);
    cJSON_ArrayForEach(written, list)
    {
        if (!written_check(written, ++number, st))
            return false;
    }
    return true;
}

static void written_gather_ids(struct bullet_table *table, const cJSON *list)
{
    const cJSON *written, *id;
    cJSON_ArrayForEach(written, list)
    {
        cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(written, "ids"))
        {
            bullet_table_find(table, id->valuestring, true);
        }
    }
}

static bool is_as_seen(const struct bullet_entry *entry)
{
    return entry->now && strcmp(entry->seen->content, entry->now->content) == 0 &&
           strcmp(entry->seen->section, entry->now->section) == 0;
}

/* Whether an operation may change the bullet. */
static enum curation_verdict bullet_check(struct bullet_entry *entry, Kind kind, const char *word, size_t number,
                                          struct status *st)
{
    if (!entry->seen) {
        refuse_written(st, number, word, "there is no bullet '%.64s' among those shown", entry->id);
        return CURATION_REFUSED;
    }
    if (entry->changed_by) {
        refuse_written(st, number, word, "the bullet '%s' stands in operation %zu, too; change it once", entry->id,
                       entry->changed_by);
        return CURATION_REFUSED;
    }
    entry->changed_by = number;
    if (!is_as_seen(entry)) {
        fail(st, ABORTED, "the bullet '%s' was changed by another writer", entry->id);
        return CURATION_OUTDATED;
    }
    int64_t helpful = (int64_t)entry->now->helpful + entry->helpful,
            harmful = (int64_t)entry->now->harmful + entry->harmful;
    if (kind != RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_DELETE || harmful > helpful)
        return CURATION_CHECKED;
    refuse_written(st, number, word,
                   "the bullet '%s' helped %lld times and harmed %lld times; only one that harmed more often is "
                   "removed. Use UPDATE or MERGE",
                   entry->id, (long long)helpful, (long long)harmful);
    return CURATION_REFUSED;
}

static enum curation_verdict add_written(struct curation *curation, struct bullet_table *table, const cJSON *written,
                                         size_t number, struct arena *arena, struct status *st)
{
    const char *section = written_text(written, "section"), *content = written_text(written, "content"),
               *reason = written_text(written, "reason");
    const cJSON *ids = cJSON_GetObjectItemCaseSensitive(written, "ids"), *id;
    size_t kind = written_kind(written);
    Operation *operation = curation_add(curation, arena, curation_kinds[kind].kind, (size_t)cJSON_GetArraySize(ids));
    if (!operation)
        return CURATION_NO_MEMORY;
    cJSON_ArrayForEach(id, ids)
    {
        struct bullet_entry *entry = bullet_table_find(table, id->valuestring, false);
        enum curation_verdict verdict =
            entry ? bullet_check(entry, operation->kind, curation_kinds[kind].word, number, st) : CURATION_NO_MEMORY;
        if (verdict != CURATION_CHECKED)
            return verdict;
        operation->ids[operation->n_ids++] = (char *)(uintptr_t)entry->id;
    }
    operation->reason = line_make(arena, reason, REASON_MAX);
    if (curation_kinds[kind].content) {
        operation->section = (char *)(uintptr_t)section;
        operation->content = (char *)(uintptr_t)content;
    }
    return operation->reason ? CURATION_CHECKED : CURATION_NO_MEMORY;
}

/* The worst verdict counts: a refusal before a change by another writer, since it would be refused again. */
static enum curation_verdict add_all_written(struct curation *curation, struct bullet_table *table, struct arena *arena,
                                             struct status *st)
{
    enum curation_verdict worst = CURATION_CHECKED;
    struct status why = {0};
    const cJSON *written;
    size_t number = 0;
    cJSON_ArrayForEach(written, curation->written)
    {
        enum curation_verdict verdict = add_written(curation, table, written, ++number, arena, &why);
        if (verdict == CURATION_NO_MEMORY || verdict == CURATION_REFUSED) {
            *st = why;
            return verdict;
        }
        if (verdict == CURATION_OUTDATED && worst == CURATION_CHECKED) {
            *st = why;
            worst = verdict;
        }
    }
    return worst;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

enum curation_verdict curation_make(struct curation *curation, struct arena *arena, struct status *st)
{
    struct bullet_table table = {0};
    curation->count = 0;
    curation->list = arena_alloc(arena, (CURATION_COUNTS_MAX + CURATION_OPERATIONS_MAX) * sizeof *curation->list);
    if (!written_check_all(curation->written, st))
        return CURATION_REFUSED;
    if (!curation->list || !bullet_table_open(&table, arena, NAMED_MAX))
        return CURATION_NO_MEMORY;
    count_tags(&table, curation->tags);
    written_gather_ids(&table, curation->written);
    curation_look_up(&table, curation);
    if (!curation_add_counts(curation, &table, arena))
        return CURATION_NO_MEMORY;
    enum curation_verdict verdict = add_all_written(curation, &table, arena, st);
    return verdict == CURATION_CHECKED && !curation->count ? CURATION_NOTHING : verdict;
}
