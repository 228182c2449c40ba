/* Documents that cannot be: each is refused with its file, line and column, and what would be right. */
#include "unit.h"

#include "route_fixture.h"

/* A document of which one line is wrong: the fourth. */
#define WHOLE(deployments, models)                                                                                     \
    "{ // routes\n"                                                                                                    \
    "  \"deployments\": {\"here\": {\"upstream\": \"http://127.0.0.1:9/v1\"},\n"                                       \
    "    /* and */\n" deployments "\n},\n"                                                                             \
    "  \"models\": {\"m\": {\"targets\": [{\"deployment\": \"here\"}]},\n" models "\n}}"
#define DEPLOYMENT(line) WHOLE("    " line, "")
#define MODEL(line)      WHOLE("", line)
#define TARGETS(list)    MODEL("\"n\": {\"targets\": " list "}")
#define BESIDE(line)                                                                                                   \
    "{\"deployments\": {\"here\": {\"upstream\": \"http://127.0.0.1:9/v1\"}},\n"                                       \
    "\"models\": {\"m\": {\"targets\": [{\"deployment\": \"here\"}]}},\n" line "}"
#define HERE "{\"deployment\": \"here\"}"

struct wrong {
    const char *document, *place, *text;
};

static const struct wrong documents[] = {
    {"", ":1:1: ", ""},
    {"[]", ":1:1: ", "must be an object"},
    {"{\"models\": {}}", ":1:1: ", "deployments is missing"},
    {"{\"deployments\": {}}", ":1:1: ", "models is missing"},
    {"{\"deployments\": {},\n \"modles\": {}}", ":2:2: ", "unknown key 'modles'; did you mean 'models'?"},
    {"{\"deployments\": {},\n \"x\": {}}", ":2:2: ", "there are deployments, models, prices, clients, tenants"},
    {"{\"deployments\": {},\n \"deployments\": {}}", ":2:2: ", "deployments"},
    {"{\"deployments\": [],\n \"models\": {}}", ":1:2: ", "deployments: must be an object"},
    {"{\"deployments\": {},\n \"models\": {}}", ":2:2: ", "models: is empty"},
    {"{\"deployments\": {},\n \"models\": 7}", ":2:2: ", "models: must be an object"},
};

static const struct wrong deployments[] = {
    {DEPLOYMENT("\"a\": {\"provider\": \"opneai\"}"),
     ":4:11: ", "provider is 'opneai', must be one of openai|azure|anthropic|ollama"},
    {DEPLOYMENT("\"a\": {\"provider\": 7}"), ":4:11: ", "provider is '…', must be a string"},
    {DEPLOYMENT("\"a\": {\"upstraem\": \"\"}"), ":4:11: ", "unknown key 'upstraem'; did you mean 'upstream'?"},
    {DEPLOYMENT("\"a\": {\"upstream\": \"ftp://x\"}"), ":4:11: ", "upstream: the URL's scheme is 'ftp'"},
    {DEPLOYMENT("\"a\": {\"upstream\": \"http://a\\nb\"}"), ":4:11: ", "upstream has a control character"},
    {DEPLOYMENT("\"a\": {\"provider\": \"azure\"}"), ":4:5: ", "upstream: is not set; azure needs one"},
    {DEPLOYMENT("\"a\": {\"provider\": \"azure\", \"upstream\": \"http://a\", \"api_version\": \"2024-10-21\"}"),
     ":4:5: ", "azure_deployment: is not set; with an api_version the URL names the deployment"},
    {DEPLOYMENT("\"a\": {\"provider\": \"azure\", \"upstream\": \"http://a\", \"azure_deployment\": \"x\"}"),
     ":4:56: ", "azure_deployment: is set to 'x', but only provider azure with an api_version"},
    {DEPLOYMENT("\"a\": {\"provider\": \"azure\", \"upstream\": \"http://a\", \"api_version\": \"1\",\n"
                "\"azure_deployment\": \"../x\"}"),
     ":5:1: ", "azure_deployment: '../x' must be the name of an Azure deployment"},
    {DEPLOYMENT("\"a\": {\"key\": \"sk-a\\nb\"}"), ":4:11: ", "key has a control character"},
    {DEPLOYMENT("\"a\": {\"key\": \"env:RENGA_NO_SUCH\"}"), ":4:11: ", "there is no environment variable"},
    {DEPLOYMENT("\"a\": {\"key\": \"file:/no/such\"}"), ":4:11: ", "cannot open '/no/such'"},
    {DEPLOYMENT("\"a\": {\"key\": 12}"), ":4:11: ", "key is '(secret)', must be a string"},
    {DEPLOYMENT("\"a\": {\"output_tokens\": 0}"), ":4:11: ", "output_tokens is '0', must be within 1 and 1000000"},
    {DEPLOYMENT("\"a\": {\"token_limit\": \"few\"}"), ":4:11: ", "must be one of auto|"},
    {DEPLOYMENT("\"a\": {\"limits\": {\"usd_per_day\": 1}}"), ":4:22: ", "unknown key 'usd_per_day'"},
    {DEPLOYMENT("\"a\": {\"limits\": {\"concurrency\": -1}}"), ":4:22: ", "concurrency is '-1', must be within 0"},
    {DEPLOYMENT("\"a\": {\"limits\": 3}"), ":4:11: ", "limits: must be an object"},
    {DEPLOYMENT("\"a/b\": {}"), ":4:5: ", "has a '/' in its name"},
    {DEPLOYMENT("\"\": {}"), ":4:5: ", "a name has 0 bytes; 1 to 128 are allowed"},
    {DEPLOYMENT("\"a\": null"), ":4:5: ", "a: must be an object"},
    {DEPLOYMENT("\"here\": {}"), ":4:5: ", "here"},
};

static const struct wrong models[] = {
    {MODEL("\"n\": {}"), ":7:1: ", "the model 'n' has no targets; say where it is asked"},
    {MODEL("\"n\": 3"), ":7:1: ", "n: must be an object"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"retrys\": {}}"), ":7:44: ", "did you mean 'retry'?"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"chat\": \"yes\"}"), ":7:44: ", ""},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"chat\": false}"), ":7:1: ", "can neither chat nor make embeddings"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"dimensions\": 1.5}"), ":7:44: ", "must be a whole number"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"record\": \"a\", \"replay\": \"b\"}"),
     ":7:1: ", "has record and replay; leave one of them out"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"retry\": {\"attempts\": 17}}"), ":7:54: ", "within 1 and 16"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"retry\": {\"base\": \"5\"}}"), ":7:54: ", "not a duration; write 500ms"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"retry\": {\"base\": 500}}"), ":7:54: ", "with its unit: \"3s\""},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"retry\": {\"base\": \"9s\"}}"),
     ":7:44: ", "base is 9000ms and max 8000ms; base must be the shorter one"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"cache\": {\"ttl\": \"8d\"}}"), ":7:54: ", "within 1ms and 7d"},
    {MODEL("\"n\": {\"targets\": [" HERE "], \"cache\": true}"), ":7:44: ", "cache: must be an object"},
};

static const struct wrong targets[] = {
    {TARGETS("3"), ":7:7: ", "targets must be an array"},
    {TARGETS("[]"), ":7:7: ", "targets: has 0; 1 to 32 are allowed"},
    {TARGETS("[3]"), ":7:19: ", "must be an object"},
    {TARGETS("[" HERE ",\n {\"modle\": \"x\"}]"), ":8:3: ", "unknown key 'modle'; did you mean 'model'?"},
    {TARGETS("[" HERE ",\n {}]"), ":8:2: ", "a target needs a deployment"},
    {TARGETS("[{\"deployment\": \"hier\"}]"), ":7:20: ", "there is no deployment 'hier'; did you mean 'here'?"},
    {TARGETS("[{\"deployment\": \"tokyo\"}]"), ":7:20: ", "there is no deployment 'tokyo'; \"deployments\" has"},
    {TARGETS("[{\"deployment\": \"here\", \"weight\": 0}]"), ":7:42: ", "weight is '0', must be within 1 and 1000"},
    {TARGETS("[{\"deployment\": \"here\", \"rank\": 32}]"), ":7:42: ", "rank is '32', must be within 0 and 31"},
    {TARGETS("[{\"deployment\": \"here\", \"rank\": 1}]"), ":7:7: ", "none has rank 0"},
    {TARGETS("[{\"deployment\": \"here\", \"model\": \"\"}]"), ":7:19: ", "model is empty; leave it out for 'n'"},
    {TARGETS("[" HERE ",\n" HERE "]"), ":8:1: ", "deployment 'here' with the model 'n' stands here twice"},
};

static const struct wrong others[] = {
    {BESIDE("\"prices\": {\"m\": {\"input\": 1}}"), ":3:12: ", "the price of 'm' needs \"input\" and \"output\""},
    {BESIDE("\"prices\": {\"m\": {\"input\": -1, \"output\": 1}}"), ":3:18: ", "input is -1 USD; must be within 0"},
    {BESIDE("\"prices\": {\"m\": {\"input\": 1e9, \"output\": 1}}"), ":3:18: ", "input is 1e+09 USD; must be within"},
    {BESIDE("\"prices\": {\"m\": {\"input\": \"1\", \"output\": 1}}"), ":3:18: ", "input must be a number of USD"},
    {BESIDE("\"prices\": {\"m\": {\"inptu\": 1}}"), ":3:18: ", "did you mean 'input'?"},
    {BESIDE("\"clients\": {\"*\": {\"concurency\": 1}}"), ":3:19: ", "did you mean 'concurrency'?"},
    {BESIDE("\"clients\": {\"web\": {\"weight\": 0}}"), ":3:21: ", "weight is '0', must be within 1 and 1000"},
    {BESIDE("\"clients\": {\"web\": 1}"), ":3:13: ", "web: must be an object"},
    {BESIDE("\"tenants\": []"), ":3:1: ", "tenants: must be an object"},
    {BESIDE("\"tenants\": {\"a\": {},\n \"a\": {}}"), ":4:2: ", ""},
};

static void refuse(const struct wrong *wrong, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct routing routing;
        char place[128];
        routing_of(&routing, wrong[i].document);
        if (routing.routes)
            fail_msg("taken: %s", wrong[i].document);
        assert_int_equal(routing.st.code, INVALID_ARGUMENT);
        snprintf(place, sizeof place, "%s%s", routing.path, wrong[i].place);
        assert_contains(routing.st.text, place);
        assert_contains(routing.st.text, wrong[i].text);
        assert_lacks(routing.st.text, "sk-");
        routing_end(&routing);
    }
}

static void a_document_that_is_none_is_refused_with_its_place(void **state)
{
    refuse(documents, COUNT(documents));
}

static void a_deployment_that_cannot_be_is_refused_with_its_place(void **state)
{
    refuse(deployments, COUNT(deployments));
}

static void a_model_that_cannot_be_is_refused_with_its_place(void **state)
{
    refuse(models, COUNT(models));
}

static void a_target_that_cannot_be_is_refused_with_its_place(void **state)
{
    refuse(targets, COUNT(targets));
}

static void prices_and_limits_that_cannot_be_are_refused_with_their_place(void **state)
{
    refuse(others, COUNT(others));
}

static void a_document_that_is_not_there_is_named(void **state)
{
    static const char *const flags[] = {"--llm_gateway.routes=/no/such/routes.json", NULL};
    struct routing routing = {0};
    routing_configure(&routing, flags);
    routing_read(&routing);
    assert_null(routing.routes);
    assert_int_equal(routing.st.code, INVALID_ARGUMENT);
    assert_contains(routing.st.text, "llm_gateway.routes: cannot open '/no/such/routes.json': No such file");
    routing_end(&routing);
}

static void a_document_beside_the_options_of_one_deployment_is_refused(void **state)
{
    static const char *const flags[] = {"--llm_gateway.models=m", NULL};
    struct routing routing;
    routing_write(&routing, MODEL(""));
    routing_configure(&routing, flags);
    routing_read(&routing);
    assert_null(routing.routes);
    assert_int_equal(routing.st.code, INVALID_ARGUMENT);
    assert_contains(routing.st.text, "llm_gateway.routes and llm_gateway.models (from --llm_gateway.models) are both "
                                     "set; leave llm_gateway.models out");
    routing_end(&routing);
}

static void more_than_the_bounds_is_refused(void **state)
{
    static char text[1 << 20];
    static const struct {
        const char *before, *each, *after, *refusal;
        int count;
    } bounds[] = {
        {"{\"deployments\": {", "\"d%d\": {},", "}, \"models\": {}}", "deployments: more than 256", 257},
        {"{\"deployments\": {\"d\": {}}, \"models\": {", "\"m%d\": {\"targets\": [{\"deployment\": \"d\"}]},", "}}",
         "models: more than 1024", 1025},
        {"{\"deployments\": {\"d\": {}}, \"models\": {\"m\": {\"targets\": [",
         "{\"deployment\": \"d\", \"model\": \"m%d\"},", "]}}}", "targets: has 33; 1 to 32 are allowed", 33},
        {"{\"deployments\": {\"d\": {}}, \"models\": {\"m\": {\"targets\": [{\"deployment\": \"d\"}]}}, \"prices\": {",
         "\"m%d\": {\"input\": 1, \"output\": 1},", "}}", "prices: more than 4096", 4097},
        {"{\"deployments\": {\"d\": {}}, \"models\": {\"m\": {\"targets\": [{\"deployment\": \"d\"}]}}, \"clients\": {",
         "\"c%d\": {},", "}}", "clients: more than 10000", 10001},
    };
    for (size_t i = 0; i < COUNT(bounds); i++) {
        struct routing routing;
        size_t length = (size_t)snprintf(text, sizeof text, "%s", bounds[i].before);
        for (int j = 0; j < bounds[i].count; j++) {
            const char *number = strstr(bounds[i].each, "%d");
            length += (size_t)snprintf(text + length, sizeof text - length, "%.*s%d%s", (int)(number - bounds[i].each),
                                       bounds[i].each, j, number + 2);
        }
        snprintf(text + length, sizeof text - length, "%s", bounds[i].after);
        routing_of(&routing, text);
        assert_null(routing.routes);
        assert_contains(routing.st.text, bounds[i].refusal);
        routing_end(&routing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_that_is_none_is_refused_with_its_place),
        cmocka_unit_test(a_deployment_that_cannot_be_is_refused_with_its_place),
        cmocka_unit_test(a_model_that_cannot_be_is_refused_with_its_place),
        cmocka_unit_test(a_target_that_cannot_be_is_refused_with_its_place),
        cmocka_unit_test(prices_and_limits_that_cannot_be_are_refused_with_their_place),
        cmocka_unit_test(a_document_that_is_not_there_is_named),
        cmocka_unit_test(a_document_beside_the_options_of_one_deployment_is_refused),
        cmocka_unit_test(more_than_the_bounds_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
