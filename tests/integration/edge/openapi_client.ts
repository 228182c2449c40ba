// A typed client of the edge, as someone else writes it: the types come from /openapi.json by openapi-typescript (schema.d.ts), the
// calls from openapi-fetch. Prints what it was answered as JSON. Run by openapi.py: node openapi_client.ts http://127.0.0.1:8080
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

declare const process: { argv: string[] } // of Node

type Schemas = components['schemas']
const client = createClient<paths>({ baseUrl: process.argv[2] ?? 'http://127.0.0.1:8080' })

function must<T>(answer: { data?: T, error?: Schemas['Error'] }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error))
  return answer.data
}

// The lines of a stream without those that end it.
async function* events<T extends object>(stream: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<T> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of stream ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines.filter(line => line.trim())) {
      const event = JSON.parse(line) as T | { end: Schemas['StreamEnd'] } | { gap: Schemas['StreamGap'] } | Schemas['Error']
      if ('end' in event) return
      if ('gap' in event || 'error' in event) throw new Error(line)
      yield event as T
    }
  }
}

const { agents } = must(await client.GET('/v1/agents'))

const indexed = await client.POST('/v1/documents:index', {
  body: { collection: 'handbook', documents: { documents: [
    { path: 'backup.md', content: btoa('# Backups\n\nBackups are kept for 30 days.\n') }] } },
  parseAs: 'stream',
})
let progress: Schemas['IndexDocumentsProgress'] | undefined
for await (const event of events<Schemas['IndexDocumentsProgress']>(must(indexed))) progress = event

const { result } = must(await client.POST('/v1/helpdesk:ask', { body: { question: 'How long are backups kept?' } }))

const { run } = must(await client.POST('/v1/runs', {
  params: { header: { 'Idempotency-Key': 'typed-client-1' } },
  body: { agent: 'echo', inputJson: { text: 'moon' }, labels: { by: 'typed' } },
}))
const watched = await client.GET('/v1/runs/{runId}/events', {
  params: { path: { runId: run?.runId ?? '' }, query: { follow: true } },
  parseAs: 'stream',
})
const ids: bigint[] = []
let stopped = false
for await (const event of events<Schemas['RunEvent']>(must(watched))) {
  ids.push(BigInt(event.eventId))
  stopped ||= event.stopped !== undefined
}

const listed = must(await client.GET('/v1/runs', { params: { query: { states: ['RUN_STATE_SUCCEEDED'], labels: { by: 'typed' } } } }))

const missing = await client.GET('/v1/runs/{runId}', { params: { path: { runId: 'never' } } })
const refused = await client.POST('/v1/helpdesk:ask', { body: { question: ' ' } })
const violation = refused.error?.error.details.find(detail => detail['@type'] === 'type.googleapis.com/google.rpc.BadRequest')

// What the types refuse.
// @ts-expect-error: a question is required
const noQuestion: Schemas['AskRequest'] = {}
// @ts-expect-error: 64-bit integers come as strings
const cost: number | undefined = result?.outcome?.usage?.costMicros
// @ts-expect-error: no such state
const state: Schemas['RunState'] = 'RUN_STATE_ASLEEP'
// @ts-expect-error: no such path
type Planner = paths['/v1/planner:plan']
void [noQuestion, cost, state]

console.log(JSON.stringify({
  agents: agents.map(agent => agent.name),
  documents: progress?.filesDone,
  answer: result?.answer,
  quote: result?.citations[0]?.quote,
  run: run?.runId,
  ids: ids.map(String),
  ascending: ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? 0n)),
  stopped,
  listed: listed.runs.map(each => each.runId),
  missing: [missing.response.status, missing.error?.error.status],
  field: violation && 'fieldViolations' in violation ? violation.fieldViolations[0]?.field : undefined,
}))
