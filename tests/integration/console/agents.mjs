// Agents of these tests: people decide, many branches, a node that works as long as the test wants, and a faulty document.
import grpc from '@grpc/grpc-js'
import protoLoader from '@grpc/proto-loader'
import { join, resolve } from 'node:path'
import { HERE } from './checks.mjs'
import { agent } from './browser.mjs'

export const EVIL = '"><img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=2</script><a href="javascript:globalThis.pwned=3">x</a>'

// A node in this process: each call waits until `release` lets it go.
export async function nodeServer() {
  const root = resolve(join(HERE, '../../../proto'))
  const { NodeService } = grpc.loadPackageDefinition(protoLoader.loadSync(['renga/v1/node.proto'], { includeDirs: [root], keepCase: true, longs: Number, enums: String, oneofs: true })).renga.v1
  const held = []
  const server = new grpc.Server()
  server.addService(NodeService.service, {
    Run: (call, answer) => held.push({ request: call.request, answer: update => answer(null, { update_json: JSON.stringify(update), outcome: 'done' }), fail: message => answer({ code: grpc.status.INTERNAL, details: message }) }),
  })
  const port = await new Promise((bound, failed) => server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, given) => (error ? failed(error) : bound(given))))
  return {
    address: `127.0.0.1:${port}`,
    held,
    async next() {
      for (let tries = 0; tries < 600 && !held.length; tries++) await new Promise(later => setTimeout(later, 50))
      return held.shift()
    },
    stop: () => server.forceShutdown(),
  }
}

export function makeAgents(address) {
  agent('release', {
    description: 'Asks two people before a release. ' + EVIL,
    state: { version: { type: 'string' }, notes: { type: 'string[]', reduce: 'append' }, decision: { type: 'object' }, approved: { type: 'boolean', initial: false } },
    input: ['version'], start: 'prepare',
    nodes: {
      prepare: { kind: 'set', values: { notes: ['prepared ' + EVIL] }, on: { done: 'ask_details' } },
      ask_details: {
        kind: 'ask', question: 'Which **environment**? ' + EVIL, payload: { hint: EVIL }, into: 'decision',
        schema: { type: 'object', properties: { environment: { type: 'string', enum: ['staging', 'production'] }, machines: { type: 'integer' } }, required: ['environment', 'machines'] }, on: { answered: 'ask_approval' },
      },
      ask_approval: { kind: 'ask', question: 'May it go out?', schema: { type: 'boolean' }, into: 'approved', on: { answered: 'decide' } },
      decide: { kind: 'choose', cases: [{ when: { field: 'approved', equals: true }, outcome: 'yes' }], else: 'no', on: { yes: 'roll_out', no: 'hold_back' } },
      roll_out: { kind: 'set', values: { notes: ['rolled out'] }, on: { done: 'end' } },
      hold_back: { kind: 'set', values: { notes: ['held back'] }, on: { done: 'end' } },
    },
  })
  agent('quiz', { // questions without a schema, and a number that no double holds
    description: 'Asks without a schema.', state: { big: { type: 'number' }, guess: { type: 'integer' }, note: { type: 'string' } }, input: ['big'], start: 'ask_number',
    nodes: { ask_number: { kind: 'ask', question: 'Which number?', into: 'guess', on: { answered: 'ask_text' } }, ask_text: { kind: 'ask', question: 'Which words?', into: 'note', on: { answered: 'end' } } },
  })
  agent('many', {
    description: 'Works on each item of a list.',
    state: { items: { type: 'string[]' }, results: { type: 'object[]' } }, input: ['items'], start: 'work_on_all', max_concurrency: 100,
    nodes: { work_on_all: { kind: 'each', of: 'items', as: 'item', graph: 'work', into: 'results', on: { done: 'end' } } },
    graphs: { work: { state: { item: { type: 'string' }, copy: { type: 'string' } }, input: ['item'], output: ['item'], start: 'copy_item', nodes: { copy_item: { kind: 'set', copy: { copy: 'item' }, on: { done: 'end' } } } } },
  })
  agent('pair', {
    description: 'Two nodes side by side, of which one fails.', state: { left: { type: 'string' }, right: { type: 'string' } }, start: ['left_side', 'right_side'],
    nodes: { left_side: { kind: 'remote', address, on: { done: 'end' } }, right_side: { kind: 'remote', address, on: { done: 'end' } } },
  })
  agent('slow', {
    description: 'Two steps that take their time.',
    state: { text: { type: 'string' }, first: { type: 'string' }, second: { type: 'string' } }, input: ['text'], start: 'first_step',
    nodes: { first_step: { kind: 'remote', address, on: { done: 'second_step' } }, second_step: { kind: 'remote', address, on: { done: 'end' } } },
  })
  agent('faulty', '{\n  "agent": "faulty",\n  "state": {"a": {"type": "strnig"}},\n  "start": "x",\n  "nodes": {"x": {"kind": "noop"}}\n}\n')
}
