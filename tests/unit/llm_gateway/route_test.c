/* What a document or the options make of a model's name. */
#include "unit.h"

#include "http/client.h"
#include "provider/provider.h"
#include "route_fixture.h"
#include "routing/models.h"

static const char document[] =
    "{\"deployments\": {\n"
    "    \"one\": {\"upstream\": \"http://127.0.0.1:9/v1\", \"key\": \"sk-plain-0123456789\", \"output_tokens\": 99,\n"
    "            \"limits\": {\"concurrency\": 64, \"requests_per_minute\": 600, \"tokens_per_minute\": 100000}},\n"
    "    \"two\": {\"provider\": \"anthropic\", \"upstream\": \"http://127.0.0.1:9\", \"context_tokens\": 7},\n"
    "    \"here\": {\"provider\": \"extractive\", \"least_confidence\": 35},\n"
    "    \"idle\": {\"provider\": \"ollama\", \"token_limit\": \"max_completion_tokens\"}},\n"
    " \"prices\": {\"small\": {\"input\": 0.4, \"cached_input\": 0.1, \"output\": 1.6},\n"
    "            \"two/small\": {\"input\": 3, \"cache_write\": 3.75, \"output\": 15}},\n"
    " \"models\": {\n"
    "    \"small\": {\"description\": \"Quick.\",\n"
    "        \"targets\": [{\"deployment\": \"one\", \"model\": \"late\", \"rank\": 2},\n"
    "                    {\"deployment\": \"one\", \"weight\": 3},\n"
    "                    {\"deployment\": \"two\", \"rank\": 1},\n"
    "                    {\"deployment\": \"one\", \"model\": \"other\"}],\n"
    "        \"retry\": {\"attempts\": 5, \"base\": \"250ms\", \"max\": \"1m\", \"longest_hint\": \"0s\"},\n"
    "        \"cache\": {\"read\": true, \"ttl\": \"1h30m\"},\n"
    "        \"context_tokens\": 1000, \"max_output_tokens\": 100, \"dimensions\": 8, \"record\": \"tape\"},\n"
    "    \"vectors\": {\"targets\": [{\"deployment\": \"one\"}], \"chat\": false, \"embeddings\": true,\n"
    "                 \"dimensions\": 256},\n"
    "    \"o1-mini\": {\"targets\": [{\"deployment\": \"one\"}]}},\n"
    " \"clients\": {\"web-shop\": {\"usd_per_day\": 20.5, \"weight\": 2}, \"*\": {\"concurrency\": 8},\n"
    "             \"a\": {\"tokens_per_minute\": 5}},\n"
    " \"tenants\": {\"acme\": {\"usd_per_day\": 100}}}\n";

static void the_targets_of_a_model_stand_by_rank_and_then_as_they_were(void **state)
{
    static const struct {
        const char *deployment, *model;
        unsigned weight, rank;
    } wanted[] = {{"one", "small", 3, 0}, {"one", "other", 1, 0}, {"two", "small", 1, 1}, {"one", "late", 1, 2}};
    struct routing routing;
    routing_of(&routing, document);
    const struct route *route = routes_find(routing.routes, "small", &routing.st);
    assert_int_equal(route->target_count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        assert_string_equal(route->targets[i].deployment->name, wanted[i].deployment);
        assert_string_equal(route->targets[i].model, wanted[i].model);
        assert_int_equal(route->targets[i].weight, wanted[i].weight);
        assert_int_equal(route->targets[i].rank, wanted[i].rank);
    }
    routing_end(&routing);
}

static void a_model_has_as_many_places_as_its_deployments_together(void **state)
{
    static const char bounded[] =
        "{\"deployments\": {\"one\": {\"upstream\": \"http://127.0.0.1:9/v1\", \"limits\": {\"concurrency\": 64}},\n"
        "                   \"two\": {\"upstream\": \"http://127.0.0.1:9/v1\", \"limits\": {\"concurrency\": 3}},\n"
        "                   \"any\": {\"upstream\": \"http://127.0.0.1:9/v1\"}},\n"
        " \"models\": {\"a\": {\"targets\": [{\"deployment\": \"one\"}]},\n"
        "              \"b\": {\"targets\": [{\"deployment\": \"one\"}, {\"deployment\": \"one\", \"model\": "
        "\"other\"},\n"
        "                                {\"deployment\": \"two\", \"rank\": 1}]},\n"
        "              \"c\": {\"targets\": [{\"deployment\": \"one\"}, {\"deployment\": \"any\", \"rank\": 1}]}}}\n";
    struct routing routing;
    routing_of(&routing, bounded);
    assert_int_equal(route_places(routes_at(routing.routes, 0)), 64);
    assert_int_equal(route_places(routes_at(routing.routes, 1)),
                     131); /* each of its two models has its own at the first */
    assert_int_equal(route_places(routes_at(routing.routes, 2)), 0);
    routing_end(&routing);
}

static void a_model_has_a_rate_where_all_who_are_asked_elsewhere_have_one(void **state)
{
    static const char rated[] =
        "{\"deployments\": {\"rpm\": {\"upstream\": \"http://127.0.0.1:9/v1\", \"limits\": {\"requests_per_minute\": "
        "9}},\n"
        "                   \"tpm\": {\"upstream\": \"http://127.0.0.1:9/v1\", \"limits\": {\"tokens_per_minute\": "
        "9}},\n"
        "                   \"any\": {\"upstream\": \"http://127.0.0.1:9/v1\"},\n"
        "                   \"here\": {\"provider\": \"extractive\"}},\n"
        " \"models\": {\"a\": {\"targets\": [{\"deployment\": \"rpm\"}, {\"deployment\": \"tpm\"}]},\n"
        "              \"b\": {\"targets\": [{\"deployment\": \"rpm\"}, {\"deployment\": \"any\", \"rank\": 1}]},\n"
        "              \"c\": {\"targets\": [{\"deployment\": \"rpm\"}, {\"deployment\": \"here\", \"rank\": 1}]},\n"
        "              \"d\": {\"targets\": [{\"deployment\": \"here\"}]}}}\n";
    static const bool wanted[] = {true, false, true, false};
    struct routing routing;
    routing_of(&routing, rated);
    for (size_t i = 0; i < COUNT(wanted); i++)
        assert_int_equal(route_has_rate(routes_at(routing.routes, i)), wanted[i]);
    routing_end(&routing);
}

static void a_route_is_as_the_document_says(void **state)
{
    struct routing routing;
    routing_of(&routing, document);
    const struct route *route = routes_at(routing.routes, 0);
    assert_string_equal(route->name, "small");
    assert_string_equal(route->description, "Quick.");
    assert_int_equal(route->retry.attempts, 5);
    assert_int_equal(route->retry.base_ms, 250);
    assert_int_equal(route->retry.max_ms, 60000);
    assert_int_equal(route->retry.hint_ms, 0);
    assert_true(route->cache.read);
    assert_false(route->cache.write);
    assert_int_equal(route->cache.ttl_ms, 5400000);
    assert_int_equal(route->context_tokens, 1000);
    assert_int_equal(route->max_output_tokens, 100);
    assert_string_equal(route->record, "tape");
    assert_null(route->replay);
    assert_true(route->chat && route->tools && !route->embeddings);
    routing_end(&routing);
}

static void what_is_not_said_has_its_default(void **state)
{
    struct routing routing;
    routing_of(&routing, document);
    const struct route *route = routes_find(routing.routes, "vectors", &routing.st);
    const struct retry_policy policy = RETRY_POLICY_DEFAULT;
    assert_string_equal(route->description, "");
    assert_int_equal(route->retry.attempts, policy.attempts);
    assert_int_equal(route->retry.base_ms, policy.base_ms);
    assert_int_equal(route->retry.max_ms, policy.max_ms);
    assert_int_equal(route->retry.hint_ms, policy.hint_ms);
    assert_true(!route->cache.read && !route->cache.write);
    assert_int_equal(route->cache.ttl_ms, 600000);
    assert_true(!route->chat && route->embeddings);
    assert_null(route->targets[0].price);
    assert_false(routes_find(routing.routes, "o1-mini", &routing.st)->tools); /* known by name to have none */
    routing_end(&routing);
}

static void a_deployment_is_as_the_document_says(void **state)
{
    struct routing routing;
    routing_of(&routing, document);
    assert_int_equal(routes_deployments(routing.routes), 4);
    const struct deployment *one = routes_deployment(routing.routes, 0), *two = routes_deployment(routing.routes, 1);
    assert_string_equal(one->key, "sk-plain-0123456789");
    assert_string_equal(http_url_origin(one->chat_url), "http://127.0.0.1:9");
    assert_int_equal(one->output_tokens, 99);
    assert_int_equal(one->context_tokens, 16384);
    assert_int_equal(one->limits.concurrency, 64);
    assert_int_equal(one->limits.requests_per_minute, 600);
    assert_int_equal(one->limits.tokens_per_minute, 100000);
    assert_int_equal(one->limits.micros_per_day, 0);
    assert_true(one->old_token_limit && !one->token_limit_is_set);
    assert_ptr_equal(two->provider, &anthropic_provider);
    assert_int_equal(two->context_tokens, 7);
    assert_null(two->key);
    assert_false(two->unset); /* another's address may need none */
    assert_int_equal(routes_deployment(routing.routes, 2)->terms.least_confidence, 35);
    assert_int_equal(one->terms.least_confidence, 50);
    assert_true(routes_deployment(routing.routes, 3)->token_limit_is_set);
    routing_end(&routing);
}

static void a_target_is_priced_where_it_is_before_by_its_model(void **state)
{
    struct routing routing;
    routing_of(&routing, document);
    const struct route *route = routes_at(routing.routes, 0);
    const struct price *one = route->targets[0].price, *two = route->targets[2].price;
    assert_int_equal(one->input_micros, 400000);
    assert_int_equal(one->cached_input_micros, 100000);
    assert_int_equal(one->cache_write_micros, 400000); /* as input, where it is not said */
    assert_int_equal(one->output_micros, 1600000);
    assert_int_equal(two->input_micros, 3000000);
    assert_int_equal(two->cached_input_micros, 3000000);
    assert_int_equal(two->cache_write_micros, 3750000);
    assert_null(route->targets[1].price);
    routing_end(&routing);
}

static void limits_stand_by_name_and_a_star_is_everybody_else(void **state)
{
    struct routing routing;
    routing_of(&routing, document);
    const struct limits_table *clients = routes_clients(routing.routes), *tenants = routes_tenants(routing.routes);
    assert_int_equal(clients->fallback.concurrency, 8);
    assert_int_equal(clients->fallback.weight, 1);
    assert_int_equal(clients->count, 2);
    assert_string_equal(clients->rows[0].name, "a"); /* sorted */
    assert_int_equal(clients->rows[0].limits.tokens_per_minute, 5);
    assert_int_equal(clients->rows[0].limits.concurrency, 0); /* nothing of the star's */
    assert_string_equal(clients->rows[1].name, "web-shop");
    assert_int_equal(clients->rows[1].limits.micros_per_day, 20500000);
    assert_int_equal(clients->rows[1].limits.weight, 2);
    assert_int_equal(tenants->count, 1);
    assert_int_equal(tenants->fallback.weight, 1);
    assert_int_equal(tenants->fallback.micros_per_day, 0);
    routing_end(&routing);
}

static void a_name_is_found_or_the_nearest_is_told(void **state)
{
    struct routing routing;
    routing_of(&routing, document);
    assert_string_equal(routes_find(routing.routes, "vectors", &routing.st)->name, "vectors");
    assert_string_equal(routes_find(routing.routes, "default", &routing.st)->name, "small");
    assert_null(routes_find(routing.routes, "smal", &routing.st));
    assert_int_equal(routing.st.code, NOT_FOUND);
    assert_contains(routing.st.text, "no model 'smal' here; did you mean 'small'?");
    assert_null(routes_find(routing.routes, "", &routing.st));
    assert_contains(routing.st.text, "the document of llm_gateway.routes sets the names");
    routing_end(&routing);
}

static void a_slip_that_does_no_harm_is_warned_of(void **state)
{
    struct routing routing;
    routing_of(&routing, document);
    assert_contains(routing.log, "no model is asked at the deployment 'idle'");
    assert_lacks(routing.log, "at the deployment 'one'");
    assert_contains(routing.log, "'other' at 'one' has no price, and counts as free");
    assert_lacks(routing.log, "'small' at");
    assert_lacks(routing.log, "sk-");
    routing_end(&routing);
}

static void a_key_comes_from_where_the_document_says(void **state)
{
    static const char keys[] = "{\"deployments\": {\n"
                               "  \"a\": {\"provider\": \"openai\"},\n"
                               "  \"b\": {\"provider\": \"openai\", \"upstream\": \"http://127.0.0.1:9/v1\"},\n"
                               "  \"c\": {\"provider\": \"openai\", \"key\": \"env:RENGA_TEST_KEY\"},\n"
                               "  \"d\": {\"provider\": \"anthropic\"}},\n"
                               " \"models\": {\"m\": {\"targets\": [{\"deployment\": \"a\"}]}}}";
    struct routing routing;
    routing_write(&routing, keys);
    routing_configure(&routing, NULL);
    setenv("RENGA_TEST_KEY", "sk-test", 1);
    setenv("OPENAI_API_KEY", "sk-env", 1);
    setenv("OPENAI_BASE_URL", "http://127.0.0.1:10/v1", 1); /* of the options alone */
    routing_read(&routing);
    unsetenv("OPENAI_API_KEY");
    unsetenv("OPENAI_BASE_URL");
    unsetenv("RENGA_TEST_KEY");
    assert_non_null(routing.routes);
    const struct deployment *own = routes_deployment(routing.routes, 0), *theirs = routes_deployment(routing.routes, 1);
    assert_string_equal(own->key, "sk-env");
    assert_string_equal(http_url_host(own->chat_url), "api.openai.com");
    assert_null(theirs->key); /* the key of OpenAI goes to OpenAI alone */
    assert_string_equal(routes_deployment(routing.routes, 2)->key, "sk-test");
    assert_true(routes_deployment(routing.routes, 3)->unset);
    routing_end(&routing);
}

static void expect_model(const char *const *flags, const char *key, const char *expected)
{
    struct routing routing = {0};
    routing_configure(&routing, flags);
    setenv("OPENAI_MODEL", "llama", 1);
    if (key)
        setenv("OPENAI_API_KEY", key, 1);
    routing_read(&routing);
    unsetenv("OPENAI_MODEL");
    unsetenv("OPENAI_API_KEY");
    assert_non_null(routing.routes);
    assert_int_equal(routes_listed(routing.routes), 1);
    assert_string_equal(routes_at(routing.routes, 0)->name, expected);
    assert_string_equal(routes_at(routing.routes, 0)->targets[0].model, expected);
    routing_end(&routing);
}

static void the_variable_of_openais_model_names_the_one_model_unless_an_option_does(void **state)
{
    static const char *const upstream[] = {"--llm_gateway.upstream=http://127.0.0.1:9/v1", NULL};
    static const char *const named[] = {"--llm_gateway.models=b", NULL};
    static const char *const ollama[] = {"--llm_gateway.provider=ollama", NULL};
    expect_model(NULL, "sk-env", "llama");
    expect_model(upstream, NULL, "llama");
    expect_model(named, "sk-env", "b");
    expect_model(NULL, NULL, "extractive"); /* neither a key nor an upstream */
    expect_model(ollama, NULL, "gpt-4.1-mini");
}

static void the_option_says_how_sure_answers_must_be_where_a_deployment_does_not(void **state)
{
    static const char *const flags[] = {"--llm_gateway.least_confidence=70", NULL};
    struct routing routing;
    routing_write(&routing, document);
    routing_configure(&routing, flags);
    routing_read(&routing);
    assert_int_equal(routes_deployment(routing.routes, 0)->terms.least_confidence, 70);
    assert_int_equal(routes_deployment(routing.routes, 2)->terms.least_confidence, 35);
    const struct route *own = routes_find(routing.routes, "extractive", &routing.st);
    assert_int_equal(own->targets[0].deployment->terms.least_confidence, 70);
    routing_end(&routing);
}

static void the_options_alone_make_one_deployment_and_a_route_a_model(void **state)
{
    static const char *const flags[] = {"--llm_gateway.upstream=http://127.0.0.1:9/v1",
                                        "--llm_gateway.models=b,a,o1-mini", NULL};
    struct routing routing = {0};
    routing_configure(&routing, flags);
    routing_read(&routing);
    assert_int_equal(routes_listed(routing.routes), 3);
    assert_int_equal(routes_deployments(routing.routes), 1);
    const struct route *route = routes_at(routing.routes, 0);
    assert_string_equal(route->name, "b");
    assert_int_equal(route->target_count, 1);
    assert_string_equal(route->targets[0].model, "b");
    assert_string_equal(route->targets[0].deployment->name, "upstream");
    assert_int_equal(route->targets[0].weight, 1);
    assert_ptr_equal(routes_find(routing.routes, "default", &routing.st), route);
    assert_string_equal(routes_find(routing.routes, "a", &routing.st)->name, "a");
    assert_false(routes_at(routing.routes, 2)->tools);
    assert_int_equal(routes_clients(routing.routes)->fallback.weight, 1);
    const struct route *own = routes_find(routing.routes, "extractive", &routing.st);
    assert_ptr_equal(own->targets[0].deployment->provider, &extractive_provider); /* it is there and not listed */
    assert_int_equal(own->index, 3);
    routing_end(&routing);
}

static void list_models_shows_every_route_and_where_it_leads(void **state)
{
    struct routing routing;
    struct arena arena;
    Renga__V1__ListModelsResponse response;
    routing_of(&routing, document);
    arena_init(&arena, NULL, 0, 1 << 20);
    assert_true(models_of(routing.routes, &arena, &response));
    assert_int_equal(response.n_models, 3);
    const Renga__V1__Model *small = response.models[0], *vectors = response.models[1];
    assert_string_equal(small->description, "Quick.");
    assert_true(small->chat && small->streaming && small->tools && !small->embeddings);
    assert_int_equal(small->context_tokens, 1000);
    assert_int_equal(small->max_output_tokens, 100);
    assert_int_equal(small->dimensions, 0);
    assert_int_equal(small->price->output_micros, 1600000);
    assert_int_equal(small->n_deployments, 4);
    assert_string_equal(small->deployments[2]->target->deployment, "two");
    assert_string_equal(small->deployments[2]->target->provider, "anthropic");
    assert_string_equal(small->deployments[3]->target->model, "late");
    assert_int_equal(small->deployments[0]->weight, 3);
    assert_int_equal(small->deployments[3]->rank, 2);
    assert_int_equal(small->deployments[0]->circuit, RENGA__V1__CIRCUIT_STATE__CIRCUIT_STATE_CLOSED);
    assert_true(vectors->embeddings && !vectors->chat && !vectors->streaming && !vectors->tools);
    assert_int_equal(vectors->dimensions, 256);
    assert_null(vectors->price);
    assert_false(response.models[2]->tools);
    size_t size = protobuf_c_message_get_packed_size(&response.base);
    assert_true(size > 100);
    arena_fini(&arena);
    routing_end(&routing);
}

static void a_list_that_does_not_fit_is_none(void **state)
{
    struct routing routing;
    struct arena arena;
    Renga__V1__ListModelsResponse response;
    routing_of(&routing, document);
    arena_init(&arena, NULL, 0, 1);
    assert_false(models_of(routing.routes, &arena, &response));
    arena_fini(&arena);
    routing_end(&routing);
}

static void the_sample_can_be_read_and_is_warned_of_nowhere(void **state)
{
    static const char *const flags[] = {"--llm_gateway.routes=" SAMPLES "/routes.json", NULL};
    struct routing routing = {0};
    routing_configure(&routing, flags);
    setenv("AZURE_TOKYO_KEY", "one", 1);
    setenv("AZURE_OSAKA_KEY", "two", 1);
    routing_read(&routing);
    assert_string_equal(routing.st.text, "");
    assert_non_null(routing.routes);
    assert_string_equal(routing.log, "");
    assert_int_equal(routes_at(routing.routes, 0)->target_count, 5);
    routing_end(&routing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_targets_of_a_model_stand_by_rank_and_then_as_they_were),
        cmocka_unit_test(a_model_has_as_many_places_as_its_deployments_together),
        cmocka_unit_test(a_model_has_a_rate_where_all_who_are_asked_elsewhere_have_one),
        cmocka_unit_test(a_route_is_as_the_document_says),
        cmocka_unit_test(what_is_not_said_has_its_default),
        cmocka_unit_test(a_deployment_is_as_the_document_says),
        cmocka_unit_test(a_target_is_priced_where_it_is_before_by_its_model),
        cmocka_unit_test(limits_stand_by_name_and_a_star_is_everybody_else),
        cmocka_unit_test(a_name_is_found_or_the_nearest_is_told),
        cmocka_unit_test(a_slip_that_does_no_harm_is_warned_of),
        cmocka_unit_test(a_key_comes_from_where_the_document_says),
        cmocka_unit_test(the_variable_of_openais_model_names_the_one_model_unless_an_option_does),
        cmocka_unit_test(the_option_says_how_sure_answers_must_be_where_a_deployment_does_not),
        cmocka_unit_test(the_options_alone_make_one_deployment_and_a_route_a_model),
        cmocka_unit_test(list_models_shows_every_route_and_where_it_leads),
        cmocka_unit_test(a_list_that_does_not_fit_is_none),
        cmocka_unit_test(the_sample_can_be_read_and_is_warned_of_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
