import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyOf } from '@referrer/contracts/local'
import { numberToHex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../referrer.ts'
import type { World } from './chains.ts'
import { CHAIN_ID, type Env, type Ground, occupy, openGround, startLyingNode } from './doctor.fixture.ts'
import type { Finding, Status } from './examination.ts'
import { examine, type Options } from './examine.ts'

let ground: Ground
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  ground = await openGround()
})
afterAll(async () => {
  await Promise.all(closing.map((close) => close()))
  await ground?.close()
})

const titleOf = ({ group, check }: Finding) => `${group}: ${check}`

/** A second node that lies, beside the honest one or alone. */
async function withNode(change: Parameters<typeof startLyingNode>[1], isAlone = false): Promise<Env> {
  const node = await startLyingNode(ground.rpcUrl, change)
  closing.push(node.close)
  return { CHAINS: ground.chains({ rpcUrls: isAlone ? [node.url] : [ground.rpcUrl, node.url] }) }
}

interface Fault {
  /** What differs from the healthy configuration. */
  plant(): Promise<Partial<Options> & { change?: Env; world?: Partial<World> }>
  undo?(): Promise<unknown>
  wrong: RegExp
  found: RegExp
  advice: RegExp
}

/** Statements on the service's database, and those that undo them. */
const statement = (done: string, undone: string) => ({
  async plant() {
    await ground.sql.unsafe(done)
    return {}
  },
  undo: () => ground.sql.unsafe(undone),
})
const change = (env: Env) => async () => ({ change: env })
let free = async () => {}

const FAULTS: Record<string, Fault> = {
  'a malformed key': {
    plant: change({ ORACLE_PRIVATE_KEY: '0x1234' }),
    wrong: /^configuration: ORACLE_PRIVATE_KEY$/,
    found: /^expected a private key/,
    advice: /correct ORACLE_PRIVATE_KEY/,
  },
  'a public address that only this machine knows': {
    plant: change({ PUBLIC_URL: 'https://localhost:8080' }),
    wrong: /^configuration: PUBLIC_URL$/,
    found: /this machine only/,
    advice: /set PUBLIC_URL to the https address/,
  },
  'a public address without TLS': {
    plant: change({ PUBLIC_URL: 'http://market.example' }),
    wrong: /^configuration: PUBLIC_URL$/,
    found: /not https/,
    advice: /set PUBLIC_URL to the https address/,
  },
  'private hosts on a real chain': {
    plant: change({ ALLOW_PRIVATE_HOSTS: 'true' }),
    wrong: /^configuration: ALLOW_PRIVATE_HOSTS$/,
    found: /no sandbox/,
    advice: /ALLOW_PRIVATE_HOSTS=false/,
  },
  'one key for two jobs': {
    plant: async () => ({ change: { PUBLISHER_PRIVATE_KEY: ground.env.ORACLE_PRIVATE_KEY ?? '' } }),
    wrong: /^configuration: keys$/,
    found: /ORACLE_PRIVATE_KEY and PUBLISHER_PRIVATE_KEY hold the same key/,
    advice: /make a new key for PUBLISHER_PRIVATE_KEY/,
  },
  'a key that everybody has': {
    plant: async () => ({ change: { ORACLE_PRIVATE_KEY: privateKeyOf(ground.market.accounts.oracle) } }),
    wrong: /^configuration: keys$/,
    found: /ORACLE_PRIVATE_KEY is a key of sandboxes \(0x\w+\)/,
    advice: /make a new key for ORACLE_PRIVATE_KEY/,
  },
  'a configuration file that everybody can read': {
    async plant() {
      const configFile = join(ground.directory, 'open.env')
      writeFileSync(configFile, `ORACLE_PRIVATE_KEY=${ground.env.ORACLE_PRIVATE_KEY}\n`)
      chmodSync(configFile, 0o644)
      return { configFile }
    },
    wrong: /^configuration: file permissions$/,
    found: /everybody on this machine can read .*open\.env/,
    advice: /chmod 640/,
  },
  'a database that does not answer': {
    plant: change({ DATABASE_URL: 'postgres://referrer:very-secret@127.0.0.1:9/service' }),
    wrong: /^database: answers$/,
    found: /No Postgres answers at 127\.0\.0\.1:9/,
    advice: /start it, or correct the host and port in DATABASE_URL/,
  },
  'a database in another encoding': {
    plant: async () => ({ change: { DATABASE_URL: ground.urlOf('ascii') } }),
    wrong: /^database: encoding$/,
    found: /SQL_ASCII/,
    advice: /ENCODING 'UTF8'/,
  },
  'a user who may not create schemas': {
    plant: async () => ({ change: { DATABASE_URL: ground.urlOf('service', 'limited') } }),
    wrong: /^database: rights$/,
    found: /may not create schemas/,
    advice: /GRANT CREATE ON DATABASE/,
  },
  'a database of a newer version': {
    ...statement(
      "insert into migrations.applied (set_name, number, name, sha256) values ('service', 999, 'service/0999_new.sql', '')",
      'delete from migrations.applied where number = 999',
    ),
    wrong: /^database: migrations$/,
    found: /newer version of the program/,
    advice: /upgrade the program/,
  },
  'a migration that was changed after it was applied': {
    ...statement(
      "update migrations.applied set sha256 = reverse(sha256) where set_name = 'service' and number = 1",
      "update migrations.applied set sha256 = reverse(sha256) where set_name = 'service' and number = 1",
    ),
    wrong: /^database: migrations$/,
    found: /was changed after this database had applied it/,
    advice: /put the file back/,
  },
  'a database that loses what it acknowledged': {
    ...statement(
      'alter database service set synchronous_commit = off',
      'alter database service reset synchronous_commit',
    ),
    wrong: /^database: durability$/,
    found: /synchronous_commit is off/,
    advice: /set synchronous_commit = on/,
  },
  'too few connections': {
    ...statement('alter database service connection limit 10', 'alter database service connection limit -1'),
    wrong: /^database: connections$/,
    found: /10 connections are allowed, and one process uses up to 24/,
    advice: /CONNECTION LIMIT/,
  },
  'an index in a Postgres without pgvector': {
    plant: change({ DISCOVERY_INDEX: 'postgres' }),
    wrong: /^database: extensions$/,
    found: /needs vector/,
    advice: /DISCOVERY_INDEX=memory/,
  },
  'a node that does not answer': {
    plant: async () => ({
      change: { CHAINS: ground.chains({ rpcUrls: [ground.rpcUrl, 'http://127.0.0.1:9/very-secret'] }) },
    }),
    wrong: /^chain 84532: node 2, 127\.0\.0\.1:9$/,
    found: /cannot be reached/,
    advice: /correct its URL in the rpcUrls of chain 84532/,
  },
  'a node of another chain': {
    plant: async () => ({
      change: await withNode(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)),
    }),
    wrong: /^chain 84532: node 2, /,
    found: /serves chain 1, not 84532/,
    advice: /correct its URL/,
  },
  'a node that has stopped': {
    plant: async () => ({
      change: await withNode(({ method, params }, truth) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest'
          ? { result: { ...(truth as object), timestamp: '0x65000000' } }
          : undefined,
      ),
    }),
    wrong: /^chain 84532: node 2, /,
    found: /s old: it has stopped/,
    advice: /name another one/,
  },
  'a node on a fork': {
    plant: async () => ({
      change: await withNode(({ method }, truth) =>
        method === 'eth_getBlockByNumber'
          ? { result: { ...(truth as object), hash: numberToHex(1, { size: 32 }) } }
          : undefined,
      ),
    }),
    wrong: /^chain 84532: nodes agree$/,
    found: /have different blocks at height/,
    advice: /take the one that is wrong out/,
  },
  'a node far behind': {
    plant: async () => ({
      change: await withNode(({ method, params }, truth) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest'
          ? { result: { ...(truth as object), number: '0x2' } }
          : undefined,
      ),
    }),
    wrong: /^chain 84532: nodes agree$/,
    found: /blocks behind/,
    advice: /take it out of rpcUrls/,
  },
  'a node without logs': {
    plant: async () => ({
      change: await withNode(({ method }) =>
        method === 'eth_getLogs' ? { error: { code: -32_601, message: 'method not found' } } : undefined,
      ),
    }),
    wrong: /^chain 84532: node 2, .*: methods$/,
    found: /does not answer eth_getLogs/,
    advice: /name a node that does/,
  },
  'a node that takes no state overrides': {
    plant: async () => ({
      change: await withNode(({ method, params }) =>
        method === 'eth_call' && params.length > 2
          ? { error: { code: -32_602, message: 'too many arguments' } }
          : undefined,
      ),
    }),
    wrong: /^chain 84532: node 2, .*: methods$/,
    found: /does not take state overrides/,
    advice: /name a node for the facilitator/,
  },
  'a start after the contracts were made': {
    plant: async () => ({
      change: { CHAINS: ground.chains({ startBlock: Number(await ground.chain.client.getBlockNumber()) }) },
    }),
    wrong: /^chain 84532: startBlock$/,
    found: /SplitRouter existed before block/,
    advice: /from the address book/,
  },
  'an address without a contract': {
    plant: async () => ({
      change: { CHAINS: ground.chains({}, { AddressRegistry: ground.market.accounts.stranger.address }) },
    }),
    wrong: /^contracts on 84532: code$/,
    found: /nothing is deployed at 0x\w+ \(AddressRegistry\)/,
    advice: /address book/,
  },
  'contracts of two deployments': {
    plant: async () => ({
      change: { CHAINS: ground.chains({}, { AddressRegistry: ground.market.addresses.USDC }) },
    }),
    wrong: /^contracts on 84532: wiring$/,
    found: /CommissionEscrow works with AddressRegistry 0x\w+, not with 0x/,
    advice: /address book of one deployment/,
  },
  'a paused escrow': {
    plant: async () => {
      await ground.setPaused(true)
      return {}
    },
    undo: () => ground.setPaused(false),
    wrong: /^contracts on 84532: not paused$/,
    found: /is paused: nothing is settled/,
    advice: /unpause\(\)/,
  },
  'an oracle without its role': {
    plant: async () => ({ change: { ORACLE_PRIVATE_KEY: ground.keys.nobody.privateKey } }),
    wrong: /^contracts on 84532: role of the oracle 0x\w+$/,
    found: /lacks ORACLE_ROLE/,
    advice: /the admin of CommissionEscrow 0x\w+ grants it/,
  },
  'a relayer without its role': {
    plant: async () => ({ change: { RELAYER_PRIVATE_KEYS: ground.keys.nobody.privateKey } }),
    wrong: /^contracts on 84532: role of the relayer 0x\w+$/,
    found: /lacks SETTLER_ROLE/,
    advice: /the admin of SplitRouter 0x\w+ grants it/,
  },
  'an oracle that is the admin': {
    async plant() {
      await ground.handRouterOver(ground.market.accounts.admin, ground.keys.oracle.account)
      return {}
    },
    undo: () => ground.handRouterOver(ground.keys.oracle.account, ground.market.accounts.admin),
    wrong: /^contracts on 84532: admin$/,
    found: /the account of ORACLE_PRIVATE_KEY \(0x\w+\) is the admin/,
    advice: /hand the admin over to a multisig/,
  },
  'a publisher without gas': {
    async plant() {
      const { client } = ground.chain
      await client.setBalance({ address: ground.keys.publisher.account.address, value: 1n })
      return {}
    },
    undo: () =>
      ground.chain.client.setBalance({
        address: ground.keys.publisher.account.address,
        value: 10n ** 20n,
      }),
    wrong: /^accounts on 84532: gas of the publisher 0x\w+$/,
    found: /^0\.000000000000000001 ETH, and 100 transactions cost up to/,
    advice: /^send [\d.]+ ETH to 0x\w+ on chain 84532$/,
  },
  'a facilitator that does not know our key': {
    plant: change({ ATTESTATION_KEYS: JSON.stringify({ [CHAIN_ID]: [generatePrivateKey()] }) }),
    wrong: /^attestation keys: of the facilitator$/,
    found: /signed with a key that the facilitator does not know/,
    advice: /ATTESTATION_PUBLIC_KEYS/,
  },
  'a facilitator that is somebody else': {
    plant: async () => ({ change: { FACILITATOR_URL: ground.rpcUrl } }),
    wrong: /^facilitator: answers$/,
    found: /./,
    advice: /correct FACILITATOR_URL/,
  },
  'a clock that is an hour late': {
    plant: async () => ({ world: { clock: () => Date.now() - 3_600_000 } }),
    wrong: /^machine: clock$/,
    found: /the database is 3600 s ahead.*the facilitator is \d+ s ahead.*chain 84532 is \d+ s ahead/,
    advice: /NTP/,
  },
  'a port that another program has': {
    plant: async () => {
      free = await occupy(Number(ground.env.PORT))
      return {}
    },
    undo: () => free(),
    wrong: /^machine: port \d+$/,
    found: /another program listens there/,
    advice: /choose another PORT/,
  },
}

const setAdmin = (functionName: 'beginDefaultAdminTransfer' | 'cancelDefaultAdminTransfer') =>
  ground.asAdmin(functionName)

/** What works, and may not be what the operator wants. */
const HINTS: Record<string, Fault> = {
  'a proxy that is not trusted': {
    plant: change({ TRUSTED_PROXIES: '' }),
    wrong: /^configuration: TRUSTED_PROXIES$/,
    found: /not set, although PUBLIC_URL is https/,
    advice: /name the proxy/,
  },
  'a market without an oracle': {
    plant: change({ ORACLE_PRIVATE_KEY: '' }),
    wrong: /^configuration: missing keys$/,
    found: /ORACLE_PRIVATE_KEY: no escrow is settled/,
    advice: /set them/,
  },
  'a database that is to be migrated': {
    plant: async () => ({ change: { DATABASE_URL: ground.urlOf('empty') } }),
    wrong: /^database: migrations$/,
    found: /are to be applied, chain-engine\/0001/,
    advice: /referrer migrate/,
  },
  'a hand-over that waits': {
    async plant() {
      await setAdmin('beginDefaultAdminTransfer')
      return {}
    },
    undo: () => setAdmin('cancelDefaultAdminTransfer'),
    wrong: /^contracts on 84532: hand-overs$/,
    found: /SplitRouter: become admin \(0x/,
    advice: /runs referrer accept/,
  },
  'a deployer who is still admin': {
    async plant() {
      await ground.handRouterOver(ground.market.accounts.admin, ground.market.accounts.deployer)
      return {}
    },
    undo: () => ground.handRouterOver(ground.market.accounts.deployer, ground.market.accounts.admin),
    wrong: /^contracts on 84532: admin$/,
    found: /^the deployer 0x\w+ is still admin$/,
    advice: /referrer accept/,
  },
  'keys in a process that sends nothing': {
    plant: async () => ({ roles: 'indexer,facilitator' }),
    wrong: /^configuration: unused keys$/,
    found: /^ORACLE_PRIVATE_KEY, PUBLISHER_PRIVATE_KEY: only the role workers sends$/,
    advice: /^set ORACLE_ADDRESS, PUBLISHER_ADDRESS instead/,
  },
  'an account with little gas': {
    async plant() {
      const { client } = ground.chain
      const value = 2n * 600_000n * (await client.getGasPrice())
      await client.setBalance({ address: ground.keys.publisher.account.address, value })
      return {}
    },
    undo: () =>
      ground.chain.client.setBalance({
        address: ground.keys.publisher.account.address,
        value: 10n ** 20n,
      }),
    wrong: /^accounts on 84532: gas of the publisher 0x\w+$/,
    found: /100 transactions cost up to/,
    advice: /^send [\d.]+ ETH to 0x\w+ on chain 84532$/,
  },
  'a transaction that is stuck': {
    async plant() {
      const { client } = ground.chain
      await client.setAutomine(false)
      const { account } = ground.keys.publisher
      await client.sendTransaction({ account, to: account.address, gas: 21_000n })
      return { world: { sleep: async () => {} } }
    },
    async undo() {
      await ground.chain.client.mine({ blocks: 1, interval: 0 })
      await ground.chain.client.setAutomine(true)
    },
    wrong: /^accounts on 84532: nonces of the publisher 0x\w+$/,
    found: /^1 transactions wait, and none was mined/,
    advice: /look at sender\.intents and at nonce \d+/,
  },
}

async function lookFor({ plant, undo, wrong, found, advice }: Fault, status: Status) {
  const { change: differing = {}, world, ...options } = await plant()
  const findings = await examine(
    { env: { ...ground.env, ...differing }, ...options },
    { fetch: ground.fetch, ...world },
  )
  await undo?.()
  const [only, ...others] = findings.filter((finding) => finding.status === status)
  expect(others).toEqual([])
  expect(only && titleOf(only)).toMatch(wrong)
  expect(only?.found).toMatch(found)
  expect(only?.advice).toMatch(advice)
  return findings
}

describe('referrer doctor', () => {
  it('finds nothing in a healthy configuration', async () => {
    const findings = await examine({ env: ground.env }, { fetch: ground.fetch })
    expect(findings.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(findings.length).toBeGreaterThan(30)
  })

  it.each(Object.entries(FAULTS))('finds %s, and nothing else', async (_, fault) => {
    await lookFor(fault, 'wrong')
  })

  it.each(Object.entries(HINTS))('warns of %s, and finds nothing wrong', async (_, fault) => {
    expect((await lookFor(fault, 'warning')).filter(({ status }) => status === 'wrong')).toEqual([])
  })

  it('does not wait for a node that never answers, and tells meanwhile what it waits for', async () => {
    const node = await startLyingNode(ground.rpcUrl, () => 'silence')
    const env = { ...ground.env, CHAINS: ground.chains({ rpcUrls: [node.url] }) }
    const told: string[] = []
    const onProgress = (waiting: readonly string[]) => void told.push(...waiting)
    const findings = await examine({ env, onProgress, progressMs: 10 }, { requestMs: 4_000 })
    await node.close()
    expect(findings.filter(({ status }) => status === 'wrong').map(({ found }) => found)).toEqual([
      expect.stringMatching(/ did not answer eth_chainId within 4000 ms$/),
    ])
    expect(findings).toContainEqual(
      expect.objectContaining({ group: 'contracts on 84532', check: 'code', status: 'skipped' }),
    )
    expect(told).toContainEqual(expect.stringMatching(/^chain 84532: node 127/))
  })

  it('prints a line for each check, the same as JSON, no secret, and the status', async () => {
    const env: Env = { ...ground.env, DATABASE_URL: 'postgres://referrer:very-secret@127.0.0.1:9/service' }
    const outputs: string[] = []
    for (const args of [['doctor'], ['doctor', '--json']]) {
      let output = ''
      const print = (text: string) => {
        output += text
      }
      expect(await runCommand(args, { env, print })).toBe(1)
      outputs.push(output)
    }
    const [text = '', json = ''] = outputs
    const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(json)
    expect(ok).toBe(false)
    expect(text).toContain('✗ database: answers: No Postgres answers at 127.0.0.1:9 → start it')
    expect(text).toContain('- database: migrations: not checked, because this is wrong: database: answers\n')
    expect(text.match(/^[✓!✗-] /gmu)).toHaveLength(findings.length)
    expect(text).toMatch(/\n1 wrong, 0 warnings, \d+ fine, \d+ not checked\n$/)
    const secrets = [
      'very-secret',
      ...['ORACLE', 'PUBLISHER'].map((name) => env[`${name}_PRIVATE_KEY`]?.slice(2) ?? ''),
    ]
    for (const secret of [...secrets, env.RELAYER_PRIVATE_KEYS?.slice(2) ?? '']) {
      expect(secret.length).toBeGreaterThan(5)
      expect(text + json).not.toContain(secret)
    }
  })
})
