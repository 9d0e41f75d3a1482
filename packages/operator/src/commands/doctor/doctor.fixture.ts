// A market with real money at stake in all but name: a chain that is no sandbox's, contracts, two databases, a running facilitator.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  confirmed,
  deployMarket,
  type LocalChain,
  type Market,
  startLocalChain,
} from '@referrer/contracts/local'
import { connect, migrate, type Sql, startPostgres } from '@referrer/database'
import {
  type Facilitator,
  migrations as facilitatorMigrations,
  readConfig,
  startFacilitator,
} from '@referrer/facilitator'
import { freePort } from '@referrer/net/free-port'
import { AttestationKey } from '@referrer/protocol'
import { commissionEscrowAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { migrations } from '@referrer/service'
import {
  type Address,
  type Hex,
  hexToBytes,
  keccak256,
  type LocalAccount,
  numberToHex,
  stringToBytes,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

export const CHAIN_ID = 84_532
/** More than nodes may be apart. */
const BLOCKS = 50
export const SEED = numberToHex(0xa1, { size: 32 })

interface Key {
  privateKey: Hex
  account: LocalAccount
}

function newKey(): Key {
  const privateKey = generatePrivateKey()
  return { privateKey, account: privateKeyToAccount(privateKey) }
}

export type Env = Record<string, string>

export interface Ground {
  chain: LocalChain
  market: Market
  /** The address of the node. */
  rpcUrl: string
  /** A configuration in which nothing is wrong. */
  env: Env
  directory: string
  /** The service's database. */
  sql: Sql
  urlOf(database: string, user?: string): string
  /** Answers what is asked of the honest node in process, which costs a fraction. */
  fetch: typeof fetch
  /** What the chain of the configuration consists of, changed. */
  chains(change?: object, contracts?: object): string
  setPaused(isPaused: boolean): Promise<void>
  /** Offers the router to the guardian, or takes the offer back. */
  asAdmin(functionName: 'beginDefaultAdminTransfer' | 'cancelDefaultAdminTransfer'): Promise<void>
  /** Makes another account the admin of the router. */
  handRouterOver(from: LocalAccount, to: LocalAccount): Promise<void>
  /** Accounts with gas: three with a role, and one without. */
  keys: Record<'oracle' | 'publisher' | 'relayer' | 'nobody', Key>
  close(): Promise<void>
}

export async function openGround(): Promise<Ground> {
  const directory = mkdtempSync(join(tmpdir(), 'referrer-doctor-'))
  // Postgres may run as another user.
  chmodSync(directory, 0o755)
  const home = join(directory, 'postgres')
  const [chain, first] = await Promise.all([
    startLocalChain({ chainId: CHAIN_ID, port: 0, keepsTime: true }),
    startPostgres({ directory: home, settings: { fsync: 'off' } }),
  ])
  const rpcUrl = chain.rpcUrl ?? ''
  const urlOf = (database: string, user?: string) => {
    const url = new URL(first.url)
    url.pathname = `/${database}`
    if (user) url.username = user
    return url.href
  }
  const [market] = await Promise.all([
    deployMarket(chain.client),
    makeDatabases(first.url, urlOf).then(() => first.stop()),
  ])
  // As an operator has it: the tables alone were made in a hurry.
  const postgres = await startPostgres({ directory: home })
  const sql = connect(urlOf('service'), { max: 1, name: 'referrer doctor test' })
  await chain.client.mine({ blocks: BLOCKS, interval: 0 })
  const { admin: adminAccount } = market.accounts
  const keys = { oracle: newKey(), publisher: newKey(), relayer: newKey(), nobody: newKey() }
  for (const { account } of Object.values(keys))
    await chain.client.setBalance({ address: account.address, value: 10n ** 20n })
  await grant(market, 'CommissionEscrow', 'ORACLE_ROLE', keys.oracle.account.address)
  await grant(market, 'ReviewRegistry', 'PUBLISHER_ROLE', keys.publisher.account.address)
  // For the mistake of one key with two jobs.
  await grant(market, 'ReviewRegistry', 'PUBLISHER_ROLE', keys.oracle.account.address)
  await grant(market, 'SplitRouter', 'SETTLER_ROLE', keys.relayer.account.address)
  const chains = (change: object = {}, contracts: object = {}) =>
    JSON.stringify([
      {
        chainId: CHAIN_ID,
        rpcUrls: [rpcUrl],
        startBlock: 0,
        maxHeadAgeSeconds: 3_600,
        contracts: { ...market.addresses, ...contracts },
        ...change,
      },
    ])
  const { attestationPubKey } = await AttestationKey.signingKey(hexToBytes(SEED))
  const relaying = { CHAINS: chains(), RELAYER_PRIVATE_KEYS: keys.relayer.privateKey }
  const publicKeys = JSON.stringify({ [CHAIN_ID]: [attestationPubKey] })
  const facilitator: Facilitator = await startFacilitator(
    readConfig({
      ...relaying,
      ATTESTATION_PUBLIC_KEYS: publicKeys,
      DATABASE_URL: urlOf('facilitator'),
      PORT: '0',
      LOG_LEVEL: 'silent',
    }),
  )
  return {
    chain,
    market,
    rpcUrl,
    directory,
    sql,
    urlOf,
    chains,
    fetch: (input, init) =>
      init?.method === 'POST' && String(input).startsWith(rpcUrl)
        ? chain.fetch(input, init)
        : fetch(input, init),
    env: {
      ...relaying,
      ROLES: 'api,indexer,workers,facilitator',
      DATABASE_URL: urlOf('service'),
      FACILITATOR_DATABASE_URL: urlOf('facilitator'),
      PORT: String(await freePort()),
      FACILITATOR_PORT: new URL(facilitator.url).port,
      FACILITATOR_URL: facilitator.url,
      FACILITATOR_ATTESTATION_PUBLIC_KEYS: publicKeys,
      PUBLIC_URL: 'https://market.example',
      TRUSTED_PROXIES: '10.0.0.0/8',
      ORACLE_PRIVATE_KEY: keys.oracle.privateKey,
      PUBLISHER_PRIVATE_KEY: keys.publisher.privateKey,
      ATTESTATION_KEYS: JSON.stringify({ [CHAIN_ID]: [SEED] }),
      EMBEDDER: 'off',
    },
    async setPaused(isPaused) {
      const call = {
        account: market.accounts.guardian,
        address: market.addresses.CommissionEscrow,
        abi: commissionEscrowAbi,
      } as const
      await confirmed(
        market,
        await chain.client.writeContract({ ...call, functionName: isPaused ? 'pause' : 'unpause' }),
      )
    },
    async asAdmin(functionName) {
      const call = {
        account: adminAccount,
        address: market.addresses.SplitRouter,
        abi: splitRouterAbi,
      } as const
      const hash =
        functionName === 'cancelDefaultAdminTransfer'
          ? await chain.client.writeContract({ ...call, functionName })
          : await chain.client.writeContract({
              ...call,
              functionName,
              args: [market.accounts.guardian.address],
            })
      await confirmed(market, hash)
    },
    keys,
    async handRouterOver(giver, taker) {
      const router = { address: market.addresses.SplitRouter, abi: splitRouterAbi } as const
      const offer = { functionName: 'beginDefaultAdminTransfer', args: [taker.address] } as const
      await confirmed(market, await chain.client.writeContract({ ...router, account: giver, ...offer }))
      // What was offered can be taken from the next second on.
      await chain.client.increaseTime({ seconds: 1 })
      const accept = { functionName: 'acceptDefaultAdminTransfer' } as const
      await confirmed(market, await chain.client.writeContract({ ...router, account: taker, ...accept }))
    },
    async close() {
      await facilitator.stop()
      await sql.end()
      await Promise.all([postgres.stop(), chain.close()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function makeDatabases(serverUrl: string, urlOf: (database: string) => string): Promise<void> {
  const admin = connect(serverUrl, { max: 1 })
  await admin`create database service`
  await admin`create database facilitator`
  await admin`create database empty`
  await admin`create database ascii template template0 encoding 'SQL_ASCII' locale 'C'`
  await admin`create role limited login`
  await admin.end()
  await Promise.all([
    migrated(urlOf('service'), migrations),
    migrated(urlOf('facilitator'), facilitatorMigrations),
  ])
}

async function migrated(url: string, sets: typeof migrations): Promise<void> {
  const sql = connect(url, { max: 1 })
  await migrate(sql, sets).finally(() => sql.end())
}

async function grant(
  market: Market,
  contract: 'ReviewRegistry' | 'CommissionEscrow' | 'SplitRouter',
  role: string,
  account: Address,
): Promise<void> {
  const hash = await market.client.writeContract({
    account: market.accounts.admin,
    address: market.addresses[contract],
    abi: splitRouterAbi,
    functionName: 'grantRole',
    args: [keccak256(stringToBytes(role)), account],
  })
  await confirmed(market, hash)
}

interface Call {
  id: unknown
  method: string
  params: unknown[]
}

/** A node that gives other answers than the one behind it. `change` returns undefined for those that stay, `silence` for none. */
export async function startLyingNode(
  target: string,
  change: (call: Call, truth: unknown) => { result?: unknown; error?: object } | 'silence' | undefined,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const call: Call = JSON.parse(body)
    const headers = { 'content-type': 'application/json' }
    const truth = await (await fetch(target, { method: 'POST', headers, body })).json()
    const changed = change(call, truth.result)
    if (changed === 'silence') return
    response
      .writeHead(200, headers)
      .end(JSON.stringify(changed ? { jsonrpc: '2.0', id: call.id, ...changed } : truth))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** A program that is not ours, on a port. */
export async function occupy(port: number): Promise<() => Promise<void>> {
  const server = createTcpServer((socket) => socket.destroy())
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done))
  return () => new Promise((done) => void server.close(() => done()))
}
