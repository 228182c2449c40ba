// The probe server (tests/lib) as a process, and clients of it by @grpc/grpc-js. RENGA_BIN is the folder of
// `probe-server`, RENGA_DESC that of `probe.desc`; RENGA_SANITIZE is set where the server was built with a sanitizer.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import grpc from '@grpc/grpc-js'
import protoLoader from '@grpc/proto-loader'

for (const name of ['http_proxy', 'https_proxy', 'grpc_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'GRPC_PROXY'])
  delete process.env[name]
process.env.TSAN_OPTIONS ??= 'ignore_noninstrumented_modules=1' // libgrpc is none of ours

export const sanitized = Boolean(process.env.RENGA_SANITIZE)
export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
export const now = () => performance.now()

export function expect(condition, why) {
  if (!condition) throw new Error(why)
}

export async function until(condition, why, ms = 5000) {
  for (const end = now() + ms; ; await sleep(2)) {
    const value = await condition()
    if (value) return value
    expect(now() < end, `${why} within ${ms} ms`)
  }
}

// ---- messages and clients

const options = { longs: Number, enums: String, defaults: true, keepCase: true }
const loaded = grpc.loadPackageDefinition(protoLoader.loadFileDescriptorSetFromBuffer(
  readFileSync(join(process.env.RENGA_DESC, 'probe.desc')), options))
const serviceOf = name => name.split('.').reduce((part, key) => part[key], loaded)

// A client of a service with promises: call() for one answer, all() and open() for streams of them.
export function connect(service, target, channelOptions = {}, credentials = grpc.credentials.createInsecure()) {
  const client = new (serviceOf(service))(target, credentials, channelOptions)
  const metadataOf = pairs => {
    const metadata = new grpc.Metadata()
    for (const [key, value] of Object.entries(pairs ?? {})) metadata.add(key, value)
    return metadata
  }
  const deadlineOf = ({ timeout, ...rest }) => timeout ? { ...rest, deadline: Date.now() + timeout } : rest

  function start(method, request, { metadata, ...callOptions } = {}) {
    const seen = { trailing: null, initial: null }
    let call
    const answer = new Promise((resolve, reject) => {
      call = client[method](request, metadataOf(metadata), deadlineOf(callOptions), (error, message) => {
        error ? reject(error) : resolve(message)
      })
      call.on('metadata', initial => { seen.initial = initial.getMap() })
      call.on('status', status => { seen.trailing = status.metadata })
    })
    answer.catch(() => {})
    return { call, answer, seen }
  }

  return {
    client,
    start,
    call: (method, request, callOptions) => start(method, request, callOptions).answer,
    // A unary call of any path with bytes as they are, answered with bytes.
    raw: (path, bytes) => new Promise((resolve, reject) => client.makeUnaryRequest(path, given => given, got => got,
      bytes, (error, answer) => error ? reject(error) : resolve(answer))),
    open: (method, request, { metadata, ...callOptions } = {}) =>
      client[method](request, metadataOf(metadata), deadlineOf(callOptions)),
    duplex: (method, callOptions = {}) => client[method](metadataOf(callOptions.metadata), deadlineOf(callOptions)),
    all(method, request, callOptions) {
      return new Promise((resolve, reject) => {
        const messages = []
        this.open(method, request, callOptions).on('data', message => messages.push(message))
          .on('error', error => reject(Object.assign(error, { messages }))).on('end', () => resolve(messages))
      })
    },
    upload(method, requests, callOptions = {}) {
      return new Promise((resolve, reject) => {
        const call = client[method](metadataOf(callOptions.metadata), deadlineOf(callOptions), (error, message) => {
          error ? reject(error) : resolve(message)
        })
        for (const request of requests) call.write(request)
        call.end()
      })
    },
    close: () => client.close()
  }
}

// The error that a call ends in.
export async function refusal(answer, code, text = '') {
  let error
  try {
    await answer
  } catch (caught) {
    error = caught
  }
  expect(error, 'the call was answered')
  expect(error.code === code, `${grpc.status[error.code]}, not ${grpc.status[code]}: ${error.details ?? error.message}`)
  expect(error.details.includes(text), `the text is '${error.details}', without '${text}'`)
  return error
}

// ---- the process

const REPORTS = /Sanitizer|runtime error:|Assertion|rpc\.leaked|rpc\.drain_cut/

export async function serve(...flags) {
  const process_ = spawn(join(process.env.RENGA_BIN, 'probe-server'), ['--listen', '127.0.0.1:0', '--drain-ms', '3000',
    ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  process_.stderr.on('data', text => { log += text })
  const printed = []
  const lines = createInterface({ input: process_.stdout }).on('line', line => printed.push(line))
  const ended = new Promise(resolve => process_.on('close', resolve))
  await until(() => printed.length || process_.exitCode !== null, 'the server does not start', 20000)
  expect(printed[0]?.startsWith('listening '), `the server does not start: ${log}`)
  const port = Number(printed[0].split(' ')[1])
  return {
    port,
    address: `127.0.0.1:${port}`,
    memoryKb: (which = 'VmRSS') =>
      Number(readFileSync(`/proc/${process_.pid}/status`, 'ascii').match(new RegExp(`${which}:\\s+(\\d+)`))[1]),
    askToStop: () => process_.kill('SIGTERM'),
    // As in probe.py: the process says "drained", ends with 0, has lost no call, and no sanitizer has said a word.
    async stop() {
      process_.kill('SIGTERM')
      const code = await Promise.race([ended, sleep(20000)])
      lines.close()
      if (code === undefined) process_.kill('SIGKILL')
      expect(code === 0 && printed.includes('drained') && !REPORTS.test(log), `it ended with ${code}: ${log.slice(-3000)}`)
    }
  }
}
