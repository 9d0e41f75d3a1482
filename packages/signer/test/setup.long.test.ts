// An agent from nothing: a signer that knows the marketplace's URL and a node only, and crashes on the way.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readKeystore } from '@referrer/client/keystore'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../service/test/http/caller.ts'
import { connect } from '../src/chain/chain.ts'
import { deploymentOf } from '../src/chain/deployment.ts'
import { readConfig } from '../src/config.ts'
import { createContext } from '../src/context.ts'
import { fund } from '../src/setup/funds.ts'
import { PRICE } from './marketplace.ts'
import { keysIn, type NewcomerPlace, PASSWORD, startNewcomerPlace } from './newcomer.ts'
import { type Relay, startRelay } from './runner.ts'
import { startSigner, type TestSigner } from './signer.ts'

let place: NewcomerPlace
/** Between the signer and its node. */
let node: Relay
const signers: TestSigner[] = []

beforeAll(async () => {
  place = await startNewcomerPlace()
  node = await startRelay(place.m.chains[0]?.chain.rpcUrl ?? '')
})
afterEach(async () => {
  place.faucet.before = undefined
  node.before = undefined
  for (const signer of signers.splice(0)) await signer.close()
})
afterAll(async () => {
  await node?.close()
  await place?.close()
})

async function start(env: Record<string, string>): Promise<TestSigner> {
  const signer = await startSigner(env)
  signers.push(signer)
  return signer
}

const statesOf = ({ steps }: { steps: { step: string; state: string }[] }) =>
  Object.fromEntries(steps.map(({ step, state }) => [step, state]))

const ALL_DONE = { key: 'done', gas: 'done', usdc: 'done', identity: 'done', market: 'done' }

it('makes a key, gets money, registers the agent on the chain and at the marketplace, and all tools work with it at once [SIGN-104]', async () => {
  const env = place.nothing({ SIGNER_LIGHT_KEYS: '' })
  const signer = await start(env)
  const first = await signer.must('setup', { pledge_bps: 500 })
  expect(statesOf(first)).toEqual({
    key: 'did',
    gas: 'did',
    usdc: 'did',
    identity: 'did',
    market: 'did',
    cashback: 'did',
  })
  const { agent_id, address } = first
  expect(keysIn(signer.stateDir)).toEqual([address])
  expect(await must(place.m.call('GET', `/v1/agent/${agent_id}`))).toMatchObject({ owner_address: address })

  const again = await signer.must('setup')
  expect(again).toMatchObject({ agent_id, address })
  expect(statesOf(again)).toEqual(ALL_DONE)
  expect(await place.identitiesOf(address)).toBe(1n)

  const { wallets, chain_id } = await signer.must('get_wallet_status')
  expect(chain_id).toBe(place.m.chainId)
  expect(wallets).toMatchObject([{ agent_id, address, owns_agent: true }])
  const order = { ref_link: place.refLink, agent_id, max_amount: String(PRICE) }
  const paid = await signer.must('pay_for_product', order)
  expect(paid).toMatchObject({ payer: address, amount: Number(PRICE) })
  await signer.must('publish_escrow_review', {
    agent_id,
    merchant_id: paid.merchant_id,
    product_id: paid.product_id,
    escrow_id: paid.escrow_id,
    content_json: JSON.stringify({ rating: 4, description: 'Funny.' }),
  })

  const [file = ''] = readdirSync(join(signer.stateDir, 'keys'))
  const path = join(signer.stateDir, 'keys', file)
  expect(statSync(path).mode & 0o077).toBe(0)
  expect(JSON.parse(readFileSync(path, 'utf8')).crypto.kdfparams).toMatchObject({ n: 262_144, r: 8, p: 1 })
  const key = await readKeystore(path, PASSWORD)
  expect(signer.said()).toContain(address)
  for (const secret of [key.slice(2), PASSWORD]) expect(signer.said()).not.toContain(secret)
})

describe('a signer that is killed', () => {
  /** Kills the signer when a message reaches its node, before or after the message is passed on. */
  async function killedAt(method: string, isPassedOn: boolean) {
    const env = place.nothing({ BASE_RPC_URL: node.url })
    const signer = await startSigner(env)
    let isSent = false
    const killed = new Promise<void>((resolve) => {
      node.before = async (body) => {
        isSent ||= body.includes('eth_sendRawTransaction')
        if (!body.includes(method) || !isSent) return
        node.before = undefined
        if (isPassedOn)
          await fetch(place.m.chains[0]?.chain.rpcUrl ?? '', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
        signer.kill()
        resolve()
        return false
      }
    })
    const call = signer.call('setup').catch(() => {})
    await killed
    await call
    return env
  }

  async function expectOneIdentity(env: Record<string, string>) {
    const signer = await start(env)
    const { agent_id, address, steps } = await signer.must('setup')
    expect(agent_id, JSON.stringify(steps)).not.toBeNull()
    expect(keysIn(signer.stateDir)).toEqual([address])
    expect(await place.identitiesOf(address)).toBe(1n)
    expect(statesOf(await signer.must('setup'))).toEqual(ALL_DONE)
    expect(await place.identitiesOf(address)).toBe(1n)
  }

  it('after it has made its key makes no second one', async () => {
    const env = place.nothing()
    const signer = await startSigner(env)
    const killed = new Promise<void>((resolve) => {
      place.faucet.before = () => {
        place.faucet.before = undefined
        signer.kill()
        resolve()
        return false
      }
    })
    const call = signer.call('setup').catch(() => {})
    await killed
    await call
    expect(keysIn(signer.stateDir)).toHaveLength(1)
    await expectOneIdentity(env)
  })

  it('before its registration is sent sends it then', async () => {
    await expectOneIdentity(await killedAt('eth_sendRawTransaction', false))
  })

  it('after its registration is sent takes the identity that it made', async () => {
    await expectOneIdentity(await killedAt('eth_sendRawTransaction', true))
  })

  it('after its registration is mined takes the identity that it made', async () => {
    await expectOneIdentity(await killedAt('eth_getTransactionReceipt', true))
  })

  it('registers no second identity through a node that lags behind the one that it asked before', async () => {
    const env = await killedAt('eth_sendRawTransaction', true)
    const registry = place.m.market.addresses.IdentityRegistry.toLowerCase()
    node.before = (body) => {
      const { id, method, params = [] } = JSON.parse(body)
      const [call, block] = params
      const isBalance = call?.to?.toLowerCase() === registry && call.data.startsWith('0x70a08231')
      const answer = (result: unknown) => ({
        status: 200,
        body: JSON.stringify({ jsonrpc: '2.0', id, result }),
      })
      if (method === 'eth_getTransactionReceipt') return answer(null)
      if (method === 'eth_call' && isBalance && block === 'latest') return answer(`0x${'00'.repeat(32)}`)
    }
    const signer = await start(env)
    const { address } = await signer.must('setup')
    node.before = undefined
    expect(await place.identitiesOf(address)).toBe(1n)
  })

  it('while its registration waits for a block waits for that one, and sends no other', async () => {
    const { client } = place.m.market
    await client.setAutomine(false)
    const env = await killedAt('eth_sendRawTransaction', true).finally(() => client.setAutomine(true))
    const sent: string[] = []
    const signer = await start(env)
    node.before = (body) => {
      if (body.includes('eth_sendRawTransaction')) sent.push(body)
      // The first question about the transaction: its block comes after that.
      if (body.includes('eth_getTransactionByHash')) return client.mine({ blocks: 1 })
    }
    const { agent_id, address } = await signer.must('setup')
    expect(agent_id).not.toBeNull()
    expect(sent).toEqual([])
    expect(await place.identitiesOf(address)).toBe(1n)
  })
})

it('registers the identity once more, and with the same nonce, where the chain has taken it back', async () => {
  const { client } = place.m.market
  const snapshot = await client.snapshot()
  const signer = await start(place.nothing())
  const first = await signer.must('setup')
  await client.revert({ id: snapshot })
  expect(await place.identitiesOf(first.address)).toBe(0n)
  const { steps, agent_id, address } = await signer.must('setup')
  expect(steps).toContainEqual({ step: 'identity', state: 'did', about: `agent ${agent_id}` })
  expect(address).toBe(first.address)
  expect(await place.identitiesOf(address)).toBe(1n)
  expect(await client.getTransactionCount({ address })).toBe(1)
})

describe('setups at the same time', () => {
  it('of two processes make one key and one identity', async () => {
    const env = place.nothing()
    const [one, other] = [await start(env), await start(env)]
    const [first, second] = await Promise.all([one.must('setup'), other.must('setup')])
    expect(second.agent_id).toBe(first.agent_id)
    expect(keysIn(one.stateDir)).toEqual([first.address])
    expect(await place.identitiesOf(first.address)).toBe(1n)
  })

  it('of one process make one key and one identity', async () => {
    const signer = await start(place.nothing())
    const [first, second] = await Promise.all([signer.must('setup'), signer.must('setup')])
    expect(second.agent_id).toBe(first.agent_id)
    expect(await place.identitiesOf(first.address)).toBe(1n)
  })
})

describe('a password', () => {
  it('is cheap to try on a key only where the owner has chosen that', async () => {
    const signer = await start(place.nothing())
    const { address } = await signer.must('setup', { fund: false })
    const path = join(signer.stateDir, 'keys', `${address.toLowerCase()}.json`)
    expect(JSON.parse(readFileSync(path, 'utf8')).crypto.kdfparams).toMatchObject({ n: 4_096, r: 8, p: 6 })
    expect(privateKeyToAddress(await readKeystore(path, PASSWORD))).toBe(address)
  })

  it('that is missing is asked for by name, and no key is made', async () => {
    const signer = await start(place.nothing({ SIGNER_PASSWORD: '' }))
    expect(await signer.refusal('setup')).toMatch(/^there is no password .*set SIGNER_PASSWORD/)
    expect(keysIn(signer.stateDir)).toEqual([])
  })

  it('that is wrong opens nothing, and no second key is made', async () => {
    const env = place.nothing()
    const signer = await start(env)
    const { agent_id } = await signer.must('setup')
    const wrong = await start({ ...env, SIGNER_PASSWORD: 'wrong' })
    const locked = await start({ ...env, SIGNER_PASSWORD: '' })
    for (const [other, why] of [
      [wrong, /^the password does not open .*: correct SIGNER_PASSWORD$/],
      [locked, /^the key of 0x\w+ is locked: set SIGNER_PASSWORD/],
    ] as const) {
      expect(await other.refusal('setup')).toMatch(why)
      const order = { ref_link: place.refLink, agent_id }
      // The caps of the owner are read with its key.
      expect(await other.refusal('pay_for_product', order)).toMatch(/password|locked/)
      // Whatever needs no signature works.
      expect((await other.must('get_wallet_status')).wallets[0]).toMatchObject({ agent_id })
    }
    expect(keysIn(signer.stateDir)).toHaveLength(1)
  })
})

it('says what to fund when the faucet does not answer, and goes on when it was funded', async () => {
  const { m } = place
  place.faucet.before = () => false
  const signer = await start(place.nothing())
  const first = await signer.must('setup')
  expect(statesOf(first)).toEqual({ key: 'did', gas: 'waiting', usdc: 'waiting', identity: 'waiting' })
  const { agent_id, address, next_steps } = first
  expect(agent_id).toBeNull()
  expect(next_steps[0]).toMatch(
    new RegExp(
      `^gas: fund ${address} with 0\\.001 ETH on chain 31337, .*the faucet at http://\\S+ gave nothing: it does not answer$`,
    ),
  )
  await m.market.client.setBalance({ address, value: 10n ** 15n })
  const second = await signer.must('setup')
  expect(statesOf(second)).toMatchObject({ key: 'done', gas: 'done', usdc: 'waiting', identity: 'did' })
  const asked: unknown[] = []
  place.faucet.before = () => void asked.push(1)
  expect(statesOf(await signer.must('setup', { fund: false }))).toMatchObject({ usdc: 'waiting' })
  expect(asked).toEqual([])
  expect(statesOf(await signer.must('setup'))).toMatchObject({ usdc: 'did', identity: 'done' })
})

it('asks no faucet in a private network outside a sandbox, whatever the marketplace names and the caller wants', async () => {
  const { market } = place.m
  const asked: unknown[] = []
  place.faucet.before = () => void asked.push(1)
  const env = place.nothing({ ALLOW_PRIVATE_HOSTS: '' })
  const context = createContext(readConfig(env))
  const deployment = await deploymentOf(context)
  const address = privateKeyToAddress(generatePrivateKey())
  const chain = await connect(context)
  const elsewhere = { ...chain, chainId: 84_532 }
  const [gas] = await fund(context, elsewhere, deployment, { address, fund: true })
  expect(gas).toMatchObject({ state: 'waiting', about: expect.stringContaining('does not answer') })
  expect(asked).toEqual([])
  expect(await market.client.getBalance({ address })).toBe(0n)
  // That of a sandbox may be.
  expect((await fund(context, chain, deployment, { address, fund: true }))[0]).toMatchObject({ state: 'did' })
})

describe('a key of the environment', () => {
  it('is set up in place of a new one', async () => {
    const { AGENT_KEYS = '', ...rest } = place.env
    const { buyer } = place.m.market.accounts
    const signer = await start({ ...place.nothing(), AGENT_KEYS })
    const answer = await signer.must('setup')
    expect(answer).toMatchObject({ agent_id: String(place.agentId), address: buyer.address })
    expect(statesOf(answer)).toMatchObject({ key: 'done', identity: 'done' })
    const [, key = ''] = AGENT_KEYS.split(':')
    const alone = await start({ ...rest, AGENT_PRIVATE_KEY: key })
    // The agent that the wallet has already is found.
    expect(await alone.must('setup')).toMatchObject({ agent_id: String(place.agentId) })
    for (const { stateDir } of [signer, alone]) expect(keysIn(stateDir)).toEqual([])
  })
})
