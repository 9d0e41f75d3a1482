// The signer as hosts run it: a process of its own, spoken to by the official client over stdio.
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { bundled } from '@referrer/database/testing'

export interface ToolAnswer {
  isError: boolean
  /** What a model reads: JSON, or what went wrong. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  structured: any
}

export interface TestSigner {
  client: Client
  stateDir: string
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>
  /** The answer of a call that must succeed. */
  must(name: string, args?: Record<string, unknown>): Promise<ToolAnswer['structured']>
  /** The message of a call that must fail. */
  refusal(name: string, args?: Record<string, unknown>): Promise<string>
  /** All that it has said, on both ways. */
  said(): string
  kill(): void
  close(): Promise<void>
}

export type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

/** All that the signer says of its tools, with their whole schemas. */
export async function explainedBy(client: Client): Promise<ListedTool[]> {
  const { tools } = await client.listTools()
  return Promise.all(
    tools.map(async ({ name }) => {
      const { contents } = await client.readResource({ uri: `referrer-signer://tools/${name}` })
      return JSON.parse((contents[0] as { text: string }).text)
    }),
  )
}

export const MAIN = new URL('../src/bin.ts', import.meta.url)

export const newStateDir = () => join(tmpdir(), `referrer-signer-${randomUUID()}`)

/** Of a program that is named by its path, that very file is run. */
export async function startSigner(
  env: Record<string, string>,
  { program = MAIN }: { program?: URL | string } = {},
): Promise<TestSigner> {
  const stateDir = env.SIGNER_STATE_DIR ?? newStateDir()
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [typeof program === 'string' ? program : await bundled(program)],
    env: { PATH, NODE_COMPILE_CACHE, SIGNER_STATE_DIR: stateDir, ...env },
    stderr: 'pipe',
  })
  const said: string[] = []
  transport.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()))
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  // The client validates every answer against the schema of the list that it has got.
  await client.listTools()

  const signer: TestSigner = {
    client,
    stateDir,
    async call(name, args = {}) {
      const result = await client.callTool({ name, arguments: args })
      said.push(JSON.stringify(result))
      const [block] = result.content as { type: string; text: string }[]
      return {
        isError: result.isError ?? false,
        text: block?.text ?? '',
        structured: result.structuredContent,
      }
    },
    async must(name, args) {
      const { isError, text, structured } = await signer.call(name, args)
      if (isError) throw new Error(`${name} failed: ${text}`)
      return structured
    },
    async refusal(name, args) {
      const { isError, text } = await signer.call(name, args)
      if (!isError) throw new Error(`${name} succeeded: ${text}`)
      return text
    },
    said: () => said.join('\n'),
    kill: () => void process.kill(transport.pid ?? Number.NaN, 'SIGKILL'),
    async close() {
      await client.close()
      await rm(stateDir, { recursive: true, force: true })
    },
  }
  return signer
}
