/* Parts of the methods of AceGenerator that learn: the input of a run, and the parts of its output. */
#include "ace.h"

#include "base/text.h"
#include "rpc/message_json.h"
#include "words/words.h"
#include "json/json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define INPUT_MAX     ((size_t)12 << 20) /* bytes: several fields of 3 MiB each */
#define WORDS_LOOKED  ((size_t)4096)     /* bytes of the query that are looked at for its language */
#define REASONING_MAX ((size_t)8192)     /* bytes, as Curation.reasoning */

void ace_input_open(struct ace_input *input)
{
    buffer_init(&input->text, INPUT_MAX);
    json_writer_init(&input->out, &input->text);
    json_write_object(&input->out, NULL);
}

char *ace_input_close(struct ace_input *input, struct arena *arena)
{
    json_write_end(&input->out);
    char *copy = json_writer_done(&input->out) ? arena_strdup(arena, buffer_text(&input->text)) : NULL;
    buffer_fini(&input->text);
    return copy;
}

void *ace_call_open(struct rpc_call *rpc, bool good, size_t size, struct status *st)
{
    void *call = good ? arena_zalloc(rpc_call_arena(rpc), size) : NULL;
    if (good && !call)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (!call)
        rpc_fail(rpc, st);
    return call;
}

static void ace_came(struct agent_run *run, const Renga__V1__RunEvent *event)
{
    (void)run, (void)event;
}

void ace_run_init(struct agent_run *run, Renga__V1__AceGenerator_Service *self, struct rpc_call *rpc, const char *agent,
                  const char *query, const Renga__V1__AgentOptions *options)
{
    size_t length = strlen(query);
    *run = (struct agent_run){
        .call = rpc,
        .orchestrator = ((struct ace_service *)self)->orchestrator,
        .agent = agent,
        .language = words_language(query, length < WORDS_LOOKED ? length : WORDS_LOOKED),
        .options = options,
        .came = ace_came,
    };
}

cJSON *ace_output(struct agent_run *run, const Renga__V1__Run *message)
{
    struct status st = {0};
    cJSON *output =
        message->output_omitted ? NULL : json_parse(message->output_json, strlen(message->output_json), NULL, &st);
    if (output)
        return output;
    rpc_fail_with(run->call, FAILED_PRECONDITION, "the run '%s' has ended, but its output cannot be read: %s",
                  run->run_id, message->output_omitted ? "it is larger than 3 MiB" : st.text);
    return NULL;
}

void *ace_output_message(struct agent_run *run, const cJSON *output, const char *key,
                         const ProtobufCMessageDescriptor *type, struct status *st)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(output, key);
    cJSON *none = cJSON_IsObject(member) ? NULL : cJSON_CreateObject();
    void *message = message_read_json(type, none ? none : member, rpc_call_arena(run->call), st);
    cJSON_Delete(none);
    return message;
}

static int64_t output_number(const cJSON *output, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(output, key);
    return cJSON_IsNumber(member) && member->valuedouble > 0 ? (int64_t)member->valuedouble : 0;
}

/* {"operations": […]} is a Curation, too. */
Renga__V1__Curation *ace_curation(struct agent_run *run, const cJSON *output, const char *bullets, struct status *st)
{
    struct arena *arena = rpc_call_arena(run->call);
    const cJSON *operations = cJSON_GetObjectItemCaseSensitive(output, "operations");
    const char *reasoning = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(output, "reasoning"));
    Renga__V1__PutPlaybookResponse *change =
        ace_output_message(run, output, "change", &renga__v1__put_playbook_response__descriptor, st);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemReferenceToObject(object, "operations", (cJSON *)(uintptr_t)operations);
    Renga__V1__Curation *curation =
        change ? (Renga__V1__Curation *)message_read_json(&renga__v1__curation__descriptor, object, arena, st) : NULL;
    cJSON_Delete(object);
    if (!curation)
        return NULL;
    if (reasoning)
        curation->reasoning = arena_strndup(arena, reasoning, text_cut(reasoning, strlen(reasoning), REASONING_MAX));
    curation->results = change->results;
    curation->n_results = change->n_results;
    curation->dropped = change->dropped;
    curation->n_dropped = change->n_dropped;
    curation->revision = change->revision ? change->revision : output_number(output, "revision");
    curation->bullets = change->revision ? change->bullets : (int32_t)output_number(output, bullets);
    if (curation->reasoning)
        return curation;
    fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    return NULL;
}

Renga__V1__AgentOutcome *ace_outcome(struct agent_run *run, const Renga__V1__Run *message, struct status *st)
{
    Renga__V1__AgentOutcome *outcome = agent_outcome(rpc_call_arena(run->call), message);
    if (!outcome && st->code == OK)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    return outcome;
}

bool ace_may_reply(struct agent_run *run, const struct status *st)
{
    if (st->code != OK)
        rpc_fail(run->call, st);
    return st->code == OK;
}

const char *ace_verdict_word(Renga__V1__AceVerdict verdict)
{
    return verdict == RENGA__V1__ACE_VERDICT__ACE_VERDICT_GOOD  ? "right"
           : verdict == RENGA__V1__ACE_VERDICT__ACE_VERDICT_BAD ? "wrong"
                                                                : "unknown";
}
