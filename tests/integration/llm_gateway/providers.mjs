// What providers do that a mock of others does not: refused parameters, blocked prompts, errors in the middle of a stream,
// seals on thinking. RENGA_BIN=<folder of renga-llm-gateway> node providers.mjs; one line a check, exit 1 when one fails.
import { createServer } from 'node:http'
import grpc from '@grpc/grpc-js'
import { asked, chat, check, expect, open, outcome, stream } from './gateway.mjs'

const { OK, UNAVAILABLE, DATA_LOSS, INVALID_ARGUMENT } = grpc.status
const MODELS = ['plain', 'cold', 'blocked', 'broken', 'thinking', 'o3-mini']
const seen = []
const json = (response, status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const events = (response, list) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of list) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}
const lines = (response, list) => response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  .end(list.map(line => JSON.stringify(line)).join('\n')) // no LF behind the last

const openai = (response, body) => {
  if (body.model === 'blocked')
    return json(response, 400, { error: { code: 'content_filter', message: 'Filtered', param: 'prompt', type: null, status: 400 } })
  if (body.model === 'cold' && 'temperature' in body)
    return json(response, 400, { error: { message: "Unsupported value: 'temperature'", type: 'invalid_request_error',
      param: 'temperature', code: 'unsupported_value' } })
  if (body.model === 'cold' && 'seed' in body)
    return json(response, 400, { error: { message: "Unsupported parameter: 'seed'", param: 'seed', code: 'unsupported_parameter' } })
  json(response, 200, { id: 'chatcmpl-1', model: body.model, choices: [{ index: 0, finish_reason: 'stop',
    message: { role: 'assistant', content: 'said' } }], usage: { prompt_tokens: 3, completion_tokens: 1 } })
}
const anthropic = (response, body) => {
  const start = { type: 'message_start', message: { id: 'msg_1', model: body.model, content: [], usage: { input_tokens: 4, output_tokens: 1 } } }
  const delta = (index, delta) => ({ type: 'content_block_delta', index, delta })
  if (body.model === 'broken')
    return events(response, [start, delta(0, { type: 'text_delta', text: 'half' }),
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }])
  if (body.model === 'blocked') return json(response, 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
  events(response, [start, { type: 'ping' }, { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    delta(0, { type: 'thinking_delta', thinking: 'hm' }), delta(0, { type: 'signature_delta', signature: 'seal' }),
    { type: 'content_block_stop', index: 0 }, delta(1, { type: 'text_delta', text: 'said' }),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 6 } }, { type: 'message_stop' }])
}
const ollama = (response, body) => {
  const piece = content => ({ model: body.model, message: { role: 'assistant', content }, done: false })
  lines(response, body.model === 'broken' ? [piece('half'), { error: 'runner has died' }]
    : [piece('sa'), piece('id'), { ...piece(''), done: true, done_reason: 'stop', prompt_eval_count: 5, eval_count: 2 }])
}
const PATHS = { '/v1/chat/completions': openai, '/openai/v1/chat/completions': openai, '/v1/messages': anthropic, '/api/chat': ollama }

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks))
  seen.push({ headers: request.headers, body })
  PATHS[request.url](response, body)
})
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
const upstream = `http://127.0.0.1:${server.address().port}`
const SAMPLING = { sampling: { temperature: 0, seed: 1 } }
const parts = finish => finish.degradations.map(({ part }) => part).join()

await open('openai', `${upstream}/v1`, MODELS)
await check('a parameter that is refused is dropped once, told of, and remembered', async () => {
  const first = await chat(asked('cold', { sampling: { temperature: 0 } }))
  expect(first.code === OK && seen.length === 2, first.error?.message ?? `${seen.length} requests`)
  const { finish } = first.response
  expect(parts(finish) === 'sampling.temperature', parts(finish))
  expect(finish.attempts.length === 2 && finish.attempts[0].http_status === 400 && finish.attempts[1].http_status === 200 &&
    finish.attempts[0].error.includes('temperature') && finish.usage.model_calls === 2, JSON.stringify(finish))
  const second = await chat(asked('cold', { sampling: { temperature: 0 } }))
  expect(second.code === OK && seen.length === 3 && parts(second.response.finish) === 'sampling.temperature', `${seen.length} requests`)
  expect(!('temperature' in seen[2].body), JSON.stringify(seen[2].body))
})
await check('a second refusal within a call is the answer, and is remembered too', async () => {
  await open('openai', `${upstream}/v1`, MODELS)
  const before = seen.length
  const first = await chat(asked('cold', SAMPLING))
  expect(first.code === INVALID_ARGUMENT && seen.length === before + 2, `${first.code} after ${seen.length - before}`)
  const second = await chat(asked('cold', SAMPLING))
  expect(second.code === OK && seen.length === before + 3, `${second.code} after ${seen.length - before}`)
})
await check('a model that is known is not asked with what it does not take', async () => {
  const { response, error } = await chat(asked('o3-mini', { ...SAMPLING, max_output_tokens: 9 }))
  const { body } = seen.at(-1)
  expect(response && parts(response.finish) === 'sampling.temperature', error?.message)
  expect(!('temperature' in body) && body.seed === 1 && body.max_completion_tokens === 9, JSON.stringify(body))
})

await open('azure', upstream, MODELS)
await check('Azure: a blocked prompt is an outcome, whole and in pieces', async () => {
  const { response, error } = await chat(asked('blocked'))
  expect(response?.finish.finish_reason === 'FINISH_REASON_CONTENT_FILTER', error?.message)
  const streamed = await stream(asked('blocked'))
  expect(streamed.code === OK && streamed.last.finish.finish_reason === 'FINISH_REASON_CONTENT_FILTER', streamed.details)
  expect(seen.at(-1).headers['api-key'] === 'sk-scripted-0123' && !seen.at(-1).headers.authorization, 'key')
})

for (const version of ['', '2026-10-21']) {
  await open('anthropic', upstream, MODELS, version ? [`--llm_gateway.api_version=${version}`] : [])
  await check(`Anthropic ${version}: thinking comes with its seal, and goes back with it`, async () => {
    const streamed = await stream(asked('thinking', { reasoning_effort: 'REASONING_EFFORT_LOW', sampling: { seed: 1 } }))
    const seal = streamed.events.find(event => event.event === 'reasoning_signature')
    expect(streamed.text === 'said' && seal?.reasoning_signature === 'seal', JSON.stringify(streamed))
    expect(streamed.last.finish.usage.output_tokens === 6 && parts(streamed.last.finish) === 'sampling.seed', JSON.stringify(streamed.last))
    const { headers } = seen.at(-1)
    expect(headers['anthropic-version'] === (version || '2023-06-01') && (version ? headers.authorization === 'Bearer sk-scripted-0123' &&
      !headers['x-api-key'] : headers['x-api-key'] === 'sk-scripted-0123' && !headers.authorization), JSON.stringify(headers))
    const next = asked('thinking', { reasoning_effort: 'REASONING_EFFORT_LOW' })
    next.messages.push({ role: 'CHAT_ROLE_ASSISTANT', content: 'said', reasoning: 'hm', reasoning_signature: 'seal' },
      { role: 'CHAT_ROLE_USER', content: 'And?' })
    await stream(next)
    expect(seen.at(-1).body.messages[1].content[0].signature === 'seal', JSON.stringify(seen.at(-1).body))
  })
}
await check('Anthropic: an error in a stream is one, with the usage so far', async () => {
  const { code, details, last } = await stream(asked('broken'))
  expect(code === DATA_LOSS && details.includes('Overloaded'), `${code} ${details}`)
  expect(last.usage?.input_tokens === 4 && last.usage.estimated, JSON.stringify(last))
})
await check('Anthropic: 529 is UNAVAILABLE', async () => {
  for (const how of [chat, stream]) expect((await how(asked('blocked'))).code === UNAVAILABLE, 'another code')
})

await open('ollama', upstream, MODELS)
await check('Ollama: lines are read to the last, which needs no end', async () => {
  const { code, details, text, last } = await stream(asked('plain'))
  expect(code === OK && text === 'said' && last.finish.usage.input_tokens === 5, `${code} ${details} ${text}`)
  expect(seen.at(-1).body.options.num_ctx === 16384, JSON.stringify(seen.at(-1).body))
})
await check('Ollama: an error on a line is one', async () => {
  const { code, details } = await stream(asked('broken'))
  expect(code === DATA_LOSS && details.includes('runner has died'), `${code} ${details}`)
})

process.exit(outcome.failures ? 1 : 0)
