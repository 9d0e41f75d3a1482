// The README is for strangers, who paste it: its programs compile, and run against a whole service.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { privateKeyOf } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startVoting, type Voting } from '../../service/test/http/voting.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, '.vitest/client-readme')
const SANDBOX = 'http://127.0.0.1:8080'
/** As far as the README uses what is not installed here. */
const STRANGERS = `
declare module 'react' {
  export function useMemo<T>(make: () => T, on: unknown[]): T
}
declare module 'wagmi' {
  import type { Account, Chain, Transport, WalletClient } from 'viem'
  export function useWalletClient(): { data: WalletClient<Transport, Chain, Account> | undefined }
}
`
const programs = new Map(
  [
    ...(await readFile(join(import.meta.dirname, '../README.md'), 'utf8')).matchAll(
      /```tsx?\n\/\/ ([\w-]+\.ts)\n([\s\S]*?)```/g,
    ),
  ].map(([, name = '', text = '']) => [name, text]),
)

let v: Voting
const key = process.env.AGENT_KEY

beforeAll(async () => {
  v = await startVoting()
  process.env.AGENT_KEY = privateKeyOf(v.m.market.accounts.buyer)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const [name, text] of programs) {
    await writeFile(join(folder, name), text.replaceAll(SANDBOX, v.m.service.url))
  }
  await writeFile(join(folder, 'strangers.d.ts'), STRANGERS)
  const tsconfig = { extends: '../../tsconfig.json', include: ['.'] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
})
afterAll(async () => {
  if (key === undefined) delete process.env.AGENT_KEY
  else process.env.AGENT_KEY = key
  await v.m.close()
})

const program = (name: string) => import(join(folder, name))

describe('the programs of the README', () => {
  it('are all found', () => {
    expect([...programs.keys()]).toEqual(['read.ts', 'sign.ts', 'page.ts', 'vote.ts', 'use-market.ts'])
  })

  it('compile', async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
      (failure: { stdout: string }) => failure,
    )
    expect(stdout).toBe('')
  }, 120_000)

  it('read, sign, page and vote', async () => {
    expect((await program('read.ts')).names).toEqual(expect.any(Array))
    const { escrowId } = await v.bought()
    const agentId = Number(v.buyer.agentId)
    const { digestOf, limitSpending } = await program('sign.ts')
    expect(await digestOf(agentId)).toMatchObject({ agent_id: agentId })
    expect(await limitSpending(v.m.chainId)).toMatchObject({ per_tx_cap_usdc: 2_000_000 })
    expect(await (await program('page.ts')).heldBack(agentId)).toBeGreaterThan(0n)
    const { vote } = await program('vote.ts')
    const [review] = v.others
    expect(await vote(agentId, Number(escrowId), review.internalId)).toBe('recorded: 1')
    expect(await vote(agentId, Number(escrowId), review.internalId)).toContain('votes already submitted')
  })
})
