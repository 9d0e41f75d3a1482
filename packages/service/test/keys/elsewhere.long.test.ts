// A process that faces the internet without any private key, and one behind it whose keys are in Web3Signer and Vault.
import { enqueueTransaction, readTransaction } from '@referrer/chain'
import { privateKeyOf, registerIdentity } from '@referrer/contracts/local'
import {
  startVault,
  startWeb3Signer,
  type TestVault,
  type TestWeb3Signer,
} from '@referrer/process/keys/testing'
import { type Address, hexToBytes, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type Service, startService } from '../../src/app/service.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { generic, startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { ENDPOINT, publish, register, sell } from '../http/reviews.ts'

/** The public key of the seed 0x…a1. */
const SEED = numberToHex(0xa1, { size: 32 })
let m: TestMarket
let behind: Service
let vault: TestVault
let signer: TestWeb3Signer
let review: (text: string) => Promise<{ review_id: number; escrow_id: 0; content_json: string }>

beforeAll(async () => {
  vault = await startVault({ links: hexToBytes(SEED) })
  signer = await startWeb3Signer([])
  const publicKey = await publicKeyOf(vault)
  m = await startTestMarket({
    env: {
      ROLES: 'api',
      ORACLE_PRIVATE_KEY: '',
      PUBLISHER_PRIVATE_KEY: '',
      ATTESTATION_KEYS: '',
      ATTESTATION_PUBLIC_KEYS: JSON.stringify({ 31337: [publicKey] }),
    },
  })
  const { oracle, publisher, reviewer: owner } = m.market.accounts
  for (const account of [oracle, publisher]) signer.load(privateKeyOf(account))
  const { config } = m.service.context
  behind = await startService(
    {
      ...config,
      ...keysOf({
        ROLES: 'indexer,workers',
        ORACLE_ADDRESS: oracle.address,
        PUBLISHER_ADDRESS: publisher.address,
        WEB3SIGNER_URL: signer.url,
        // One that is away refuses connections at once: only a busy machine needs the time.
        WEB3SIGNER_TIMEOUT_MS: '20000',
        ATTESTATION_TRANSIT_KEYS: JSON.stringify({ 31337: 'links' }),
        VAULT_ADDR: vault.url,
        VAULT_TOKEN: vault.token,
      }),
    },
    { fetch: m.service.context.fetch },
  )
  const merchantId = await openRecorded(m)
  const agentId = await registerIdentity(m.market, owner)
  const product = await sell(m, merchantId, 1, ENDPOINT)
  review = async (content) => {
    const review_id = await publish(m.market, { owner, agentId, product, content })
    await m.indexed()
    return { review_id, escrow_id: 0, content_json: content }
  }
})
afterAll(async () => {
  await behind?.stop()
  await m?.close()
  await Promise.all([vault?.close(), signer?.close()])
})

/** The part of the configuration that names roles and keys. */
function keysOf(env: Record<string, string>) {
  const CHAINS = JSON.stringify([
    { chainId: 31_337, rpcUrls: ['http://node.test'], contracts: m.market.addresses, startBlock: 0 },
  ])
  const { roles, oracle, publisher, keys, attestation, vault } = readConfig({ CHAINS, ...env })
  return { roles, oracle, publisher, keys, attestation, vault }
}

async function publicKeyOf({ url, token }: TestVault): Promise<string> {
  const response = await fetch(`${url}/v1/transit/keys/links`, { headers: { 'x-vault-token': token } })
  const { data } = (await response.json()) as { data: { keys: Record<string, { public_key: string }> } }
  return Buffer.from(data.keys['1']?.public_key ?? '', 'base64').toString('hex')
}

it('a link of a review that is registered without a key is signed behind, and answered at once', async () => {
  const { body, status } = await register(m, await review(generic(5, 'Signed elsewhere')))
  expect(status).toBe(200)
  expect(body.ref_link).toContain('/r/')
  const path = new URL(body.ref_link).pathname
  expect(await m.call('GET', path, { headers: { accept: 'application/json' } })).toMatchObject({
    status: 200,
    body: { merchant_endpoint: ENDPOINT },
  })
  const manifest = (await m.call('GET', '/.well-known/referrer-agent')).body
  expect(manifest.attestationPubKey).toBe(await publicKeyOf(vault))
  expect(m.service.context.chains.get(31_337)?.attestation?.key).toBeUndefined()
})

it('while Vault is away reviews are indexed and registered without a link, which comes when Vault is back', async () => {
  await vault.kill()
  const body = await review(generic(4, 'While Vault was away'))
  expect(await register(m, body)).toMatchObject({ status: 200, body: { ref_link: '' } })
  expect((await m.call('GET', `/v1/review/${body.review_id}`)).body).toMatchObject({ status: 'published' })
  await vault.revive()
  const linkOf = async () => (await m.call('GET', `/v1/review/${body.review_id}`)).body.ref_link
  await until(async () => !!(await linkOf()), 'the link')
  expect((await register(m, body)).body.ref_link).toBe(await linkOf())
})

it('while Web3Signer is away transactions wait and readiness says so; when it is back each is sent once', async () => {
  const { publisher } = m.market.accounts
  const sender = async () => {
    const { workers } = (await (await fetch(`${behind.url}/readyz`)).json()) as Readiness
    return workers.find(({ name }) => name === 'sender 31337')?.state
  }
  const gifts: { id: bigint; to: Address }[] = []
  const give = async () => {
    const to = privateKeyToAddress(generatePrivateKey())
    const gift = { chainId: 31_337, from: publisher.address, to, data: '0x', value: 1n, key: to } as const
    gifts.push({ id: await enqueueTransaction(m.sql, gift), to })
  }
  const state = async (id: bigint) => (await readTransaction(m.sql, { id }))?.state
  const before = await m.market.client.getTransactionCount({ address: publisher.address })
  await give()
  await until(async () => (await state(gifts[0]?.id ?? 0n)) === 'confirmed', 'the first gift')
  await signer.kill()
  for (let count = 0; count < 4; count += 1) await give()
  await until(async () => (await sender()) === 'failing', 'the sender to fail')
  expect(behind.context.workerHealth()).toContainEqual({
    name: 'sender 31337',
    state: 'failing',
    restarts: 0,
    error: expect.stringMatching(/cannot sign: Web3Signer at .* does not answer/),
  })
  await signer.revive()
  for (const { id } of gifts) await until(async () => (await state(id)) === 'confirmed', `gift ${id}`)
  await until(async () => (await sender()) === 'running', 'the sender to work')
  for (const { to } of gifts) expect(await m.market.client.getBalance({ address: to })).toBe(1n)
  expect(await m.market.client.getTransactionCount({ address: publisher.address })).toBe(before + 5)
})

interface Readiness {
  workers: { name: string; state: string }[]
}
