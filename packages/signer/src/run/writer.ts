// Asks the owner's program for a review: a command, or an MCP server.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { VARIABLES } from '../config.ts'
import { Refused } from '../refused.ts'

/** Two tries and the publication must fit into the ten minutes that a lock holds. */
const TIMEOUT_MS = 180_000
const MAX_BYTES = 1024 * 1024
const TOOL = 'write_review'

export type Writer = (document: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>

export function createWriter({
  command,
  mcp,
}: {
  command?: string | undefined
  mcp?: string | undefined
}): Writer | undefined {
  if (command !== undefined) return (document, signal) => runCommand(command, document, signal)
  if (mcp !== undefined) return (document, signal) => callServer(mcp, document, signal)
  return undefined
}

/** The words of a command line; quotes keep a word with spaces together. No shell reads it, so nothing in it is expanded. */
export const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )

/** The environment without the settings of the signer, the keys among them. */
function environment(): Record<string, string> {
  const own = new Set(Object.keys(VARIABLES))
  const others = Object.entries(process.env).filter(([name, value]) => !own.has(name) && value !== undefined)
  return Object.fromEntries(others) as Record<string, string>
}

function runCommand(
  command: string,
  document: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  const [file = '', ...args] = wordsOf(command)
  return new Promise((resolve, reject) => {
    // With a group of its own, so that what the command has started ends with it.
    const child = spawn(file, args, { env: environment(), stdio: 'pipe', detached: true })
    const ended = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    const fail = (why: string) => {
      reject(new Refused(`the review command ${why}`))
      stop(child)
    }
    const giveUp = () => fail(signal.aborted ? 'was stopped' : `took more than ${TIMEOUT_MS / 1_000} s`)
    ended.addEventListener('abort', giveUp, { once: true })
    if (ended.aborted) giveUp()
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length + chunk.length > MAX_BYTES) return fail('writes more than 1 MiB')
      output += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      complaint = (complaint + chunk).slice(-500)
    })
    child.on('error', ({ message }) => fail(`cannot be run: ${message}`))
    child.on('close', (code) => {
      ended.removeEventListener('abort', giveUp)
      if (code !== 0) return fail(`ended with ${code}: ${complaint.trim() || 'it does not say why'}`)
      const answer = jsonIn(output)
      if (answer === undefined) return fail('did not write one JSON document to stdout')
      resolve(answer)
    })
    // A command that does not read its input is no failure.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(document)}\n`)
  })
}

/** Kills the command with all that it has started, and reads no more of what they write. */
function stop({ pid, stdout, stderr }: ChildProcessWithoutNullStreams): void {
  stdout.destroy()
  stderr.destroy()
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

async function callServer(
  server: string,
  document: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  const client = new Client({ name: 'referrer-runner', version: '0.1.0' })
  const options = { timeout: TIMEOUT_MS, signal }
  try {
    await client.connect(transportTo(server), options)
    const answer = await client.callTool({ name: TOOL, arguments: document }, options)
    const [first] = answer.content
    const text = first?.type === 'text' ? first.text : ''
    if (answer.isError) throw new Refused(`${TOOL} refuses: ${text.slice(0, 500)}`)
    return answer.structuredContent ?? jsonIn(text)
  } catch (error) {
    if (error instanceof Refused) throw error
    const why = error instanceof Error ? error.message : 'unknown'
    throw new Refused(`the MCP server for reviews does not answer: ${why}`)
  } finally {
    await client.close().catch(() => {})
  }
}

function transportTo(server: string) {
  if (/^https?:\/\//.test(server)) return new StreamableHTTPClientTransport(new URL(server))
  const [command = '', ...args] = wordsOf(server)
  return new StdioClientTransport({ command, args, env: environment(), stderr: 'ignore' })
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
