import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAddressBook } from '@referrer/contracts/deploy'
import {
  deployMarket,
  type LocalChain,
  type Market,
  privateKeyOf,
  startLocalChain,
} from '@referrer/contracts/local'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { AttestationKey } from '@referrer/protocol'
import { migrations } from '@referrer/service'
import { hexToBytes } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Child, startAsWritten, startReferrer } from '../process.fixture.ts'
import { runCommand } from '../referrer.ts'

const SEED = `0x${'a1'.repeat(32)}` as const
const directory = mkdtempSync(join(tmpdir(), 'referrer-serve-'))
// The embedded Postgres runs as another user.
chmodSync(directory, 0o755)
const file = (name: string, text: string) => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

let chain: LocalChain
let market: Market
let records: TestDatabase
let settlements: TestDatabase
/** Of the service. */
let env: Record<string, string>
let children: Child[] = []

beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31_337, port: 0 })
  market = await deployMarket(chain.client)
  records = await freshDatabase(migrations)
  settlements = await freshDatabase()
  const book = join(directory, '31337.json')
  writeAddressBook(book, { chainId: 31_337, startBlock: 0, contracts: market.addresses })
  env = {
    DATABASE_URL: records.url,
    PORT: '0',
    EMBEDDER: 'off',
    DEPLOYMENTS: book,
    RPC_URLS_31337: chain.rpcUrl ?? '',
    CHAIN_31337: '{"confirmations": 1, "pollIntervalMs": 50}',
  }
})
afterEach(endChildren)
afterAll(async () => {
  await chain?.close()
  await records?.drop()
  await settlements?.drop()
  rmSync(directory, { recursive: true })
})

async function endChildren(): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(children.map(({ exited }) => exited))
  children = []
}

async function serve(roles: string, given: Record<string, string>): Promise<Child> {
  const child = await startReferrer(['serve', '--roles', roles], given)
  children.push(child)
  return child
}

async function command(args: string[], given: Record<string, string>): Promise<string> {
  const printed: string[] = []
  expect(await runCommand(args, { env: given, print: (text) => void printed.push(text) })).toBe(0)
  return printed.join('')
}

describe('referrer serve', () => {
  it('runs all roles in one process, tells when each is ready, and ends all at one signal', async () => {
    const { attestationPubKey } = await AttestationKey.signingKey(hexToBytes(SEED))
    const child = await serve('facilitator,api,workers,indexer', {
      ...env,
      ATTESTATION_KEYS_FILE: file('seeds', JSON.stringify({ 31337: [SEED] })),
      ORACLE_PRIVATE_KEY_FILE: file('oracle', `${privateKeyOf(market.accounts.oracle)}\n`),
      RELAYER_PRIVATE_KEYS_FILE: file('relayers', `${privateKeyOf(market.accounts.settler)}\n`),
      ATTESTATION_PUBLIC_KEYS: JSON.stringify({ 31337: [attestationPubKey] }),
      FACILITATOR_DATABASE_URL: settlements.url,
      FACILITATOR_PORT: '0',
    })
    const [, api] = await child.says(/^referrer api ready on (\S+), chains 31337$/m)
    for (const role of ['indexer', 'workers'])
      await child.says(`referrer ${role} ready on ${api}, chains 31337\n`)
    const [, facilitator] = await child.says(/^referrer facilitator ready on (\S+), chains 31337$/m)
    expect(await (await fetch(`${api}/.well-known/referrer-agent`)).json()).toMatchObject({
      chains: [{ chainId: 31_337, attestationPubKey }],
    })
    expect(await (await fetch(`${facilitator}/supported`)).json()).toMatchObject({
      kinds: [{ network: 'eip155:31337' }],
    })
    child.kill('SIGTERM')
    expect(await child.exited).toMatchObject({ code: 0, err: '' })
    const secrets = [SEED, privateKeyOf(market.accounts.oracle), privateKeyOf(market.accounts.settler)]
    for (const secret of secrets) expect(child.output.out).not.toContain(secret.slice(2))
  })

  it('names all problems of both programs at once, and tells no secret', async () => {
    const child = await serve('api,facilitator', {
      DATABASE_URL: 'mysql://hunter2',
      PORT: 'x',
      FACILITATOR_PORT: 'y',
      FACILITATOR_DATABASE_URL: 'mysql://hunter2',
      ORACLE_PRIVATE_KEY: '0xhunter2',
      RELAYER_PRIVATE_KEYS: '0xhunter2',
    })
    const { code, out, err } = await child.exited
    expect([code, out]).toEqual([1, ''])
    expect(err).not.toContain('hunter2')
    expect(err.trimEnd().split('\n')).toEqual([
      'The configuration cannot be used:',
      expect.stringMatching(/^ {2}DATABASE_URL: expected a URL/),
      '  PORT: expected a whole number from 0 to 65535',
      expect.stringMatching(/^ {2}ORACLE_PRIVATE_KEY: expected a private key/),
      expect.stringMatching(/^ {2}CHAINS: no chain is configured/),
      expect.stringMatching(/^ {2}FACILITATOR_DATABASE_URL: expected a URL/),
      '  FACILITATOR_PORT: expected a whole number from 0 to 65535',
      expect.stringMatching(/^ {2}RELAYER_PRIVATE_KEYS: expected private keys/),
      expect.stringMatching(/^ {2}FACILITATOR_DATABASE_URL: the same as DATABASE_URL/),
    ])
    await expect(command(['serve', '--roles', 'api,facilitator'], env)).rejects.toThrow(
      'FACILITATOR_DATABASE_URL: not set, although DATABASE_URL is',
    )
  })

  it('is not ready while a contract is missing, and says in the log what it waits for', async () => {
    const contracts = { ...market.addresses, USDC: '0x000000000000000000000000000000000000dEaD' }
    const { DEPLOYMENTS: _, ...rest } = env
    const child = await serve('indexer', {
      ...rest,
      CHAINS: JSON.stringify([{ chainId: 31_337, rpcUrls: [chain.rpcUrl], startBlock: 0, contracts }]),
    })
    await child.says(/"waiting":.*has no contract at 0x0{36}dEaD.*"not ready yet"/)
    child.kill('SIGTERM')
    const { code, out } = await child.exited
    expect(code).toBe(0)
    expect(out).not.toContain('ready on')
  })

  it('starts on an embedded database of its own and ends with it', async () => {
    const { DATABASE_URL: _, ...rest } = env
    const child = await serve('indexer', { ...rest, DATA_DIR: join(directory, 'data') })
    const [, url] = await child.says(/indexer ready on (\S+),/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    child.kill('SIGINT')
    expect(await child.exited).toMatchObject({ code: 0, err: '' })
  })

  it('says in one line that its port is in use', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as { port: number }
    const child = await serve('indexer', { ...env, PORT: String(port) })
    expect(await child.exited).toMatchObject({
      code: 1,
      err: `port ${port} is in use: stop what listens there, or set PORT to another\n`,
    })
    squatter.close()
  })

  it('says what to set when nothing is configured, or roles are not known', async () => {
    expect(await startAsWritten(['serve'], {}).exited).toEqual({
      code: 1,
      out: '',
      err: 'The configuration cannot be used:\n  CHAINS: no chain is configured; set CHAINS to a JSON array of chains, CHAINS_FILE to a file with one, or DEPLOYMENTS to address books\n',
    })
    await expect(command(['serve', '--roles', 'api,till'], {})).rejects.toThrow(
      '--roles: expected any of api, indexer, workers, facilitator, separated by commas',
    )
  })

  it('lists every variable with its default when asked for help', async () => {
    const help = await command(['serve', '--help'], {})
    for (const line of [
      /^ {2}DATABASE_URL +PostgreSQL 15 or newer/m,
      /^ {2}PORT +.+ \(default 8080\)$/m,
      /^ {2}PORT +.+ \(default 8081\)$/m,
      /^ {2}RELAYER_PRIVATE_KEYS /m,
    ])
      expect(help).toMatch(line)
  })
})

describe('referrer migrate', () => {
  it('shows what it would do, does it once, and a serve that does not migrate waits for it', async () => {
    const database = await freshDatabase()
    const given = { ...env, DATABASE_URL: database.url, MIGRATE: 'off' }
    try {
      const plan = await command(['migrate', '--dry-run'], { DATABASE_URL: database.url })
      expect(plan).toContain('service: would apply chain-engine/0001_indexer.sql (contract)\n')
      expect(await database.sql`select to_regnamespace('market') as market`).toEqual([{ market: null }])
      const [waiting, stopped] = [await serve('indexer', given), await serve('workers', given)]
      for (const child of [waiting, stopped]) await child.says('waiting for the database to be migrated')
      stopped.kill('SIGTERM')
      expect(await stopped.exited).toMatchObject({ code: 0, err: '' })
      const done = await command(['migrate'], { DATABASE_URL: database.url })
      expect(done).toContain('service: applied service/0001_jobs.sql\n')
      await waiting.says('referrer indexer ready on')
      expect(await command(['migrate'], { DATABASE_URL: database.url })).toBe('service: up to date\n')
    } finally {
      await endChildren()
      await database.drop()
    }
  })

  it('needs nothing but the databases of its roles', async () => {
    const given = { DATABASE_URL: records.url, FACILITATOR_DATABASE_URL: settlements.url }
    const said = await command(['migrate', '--roles', 'api,facilitator'], given)
    expect(said).toMatch(/^service: up to date$/m)
    expect(said).toMatch(/^facilitator: up to date$/m)
    await expect(command(['migrate'], { DATABASE_URL: 'mysql://hunter2' })).rejects.toThrow(
      'service: DATABASE_URL: expected a URL',
    )
  })
})

describe('commands on the records', () => {
  it('compute ranks and make listings anew, of every chain', async () => {
    expect(await command(['ranks', 'recompute'], env)).toContain('chain 31337: 0 products\n')
    expect(await command(['discovery', 'rebuild'], env)).toBe('chain 31337: 0 products\n')
  })

  it('forget a chain so that it is read anew, and no other', async () => {
    const { sql } = records
    await sql`DELETE FROM indexer.checkpoints`
    await sql`
      INSERT INTO indexer.checkpoints
        (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
      SELECT chain_id, 5, '\\x01', now(), 5, 5, now() FROM unnest(ARRAY[31337, 31338]) AS chain_id`
    expect(await command(['reindex', '31337'], env)).toBe('chain 31337 will be read anew from block 0\n')
    expect(await sql`SELECT chain_id FROM indexer.checkpoints`).toEqual([{ chain_id: 31_338n }])
    await expect(command(['reindex', '1'], env)).rejects.toThrow('one of the configured chains (31337)')
  })
})
