import { createRpcPool } from '@referrer/chain'
import {
  confirmed,
  deployMarket,
  type LocalChain,
  type Market,
  registerIdentity,
  startLocalChain,
} from '@referrer/contracts/local'
import type { Sql } from '@referrer/database'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  numberToHex,
  type TypedDataDefinition,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testContext } from '../../doors/http/testing.ts'
import type { Chain, Context } from '../../kit/context.ts'
import { proposeCommitment, requireSigned } from './operations.ts'

const TYPE = 'CashbackRateCommitment'
const HOUR = 3_600
/** A contract that returns the magic value of ERC-1271 for every call. */
const AGREE: Hex = '0x631626ba7e60e01b60005260206000f3'
const REVERT: Hex = '0x60006000fd'
/** A contract that echoes its call data, which begins with the magic value. */
const IDENTITY_PRECOMPILE = numberToHex(4, { size: 20 })
/** A contract that accepts the signatures of its key, by `ecrecover`. */
const keptBy = (key: Address): Hex =>
  `0x60043560005260a43560f81c602052606435604052608435606052602060806080600060015afa5060805173${key.slice(2)}14631626ba7e0260e01b60005260206000f3`

let local: LocalChain
let market: Market
let chain: Chain
let context: Context
let now: number
let isDown: boolean

beforeAll(async () => {
  local = await startLocalChain({ port: 0 })
  market = await deployMarket(local.client)
  chain = {
    config: { chainId: local.chain.id, contracts: market.addresses },
    rpc: createRpcPool({
      chainId: local.chain.id,
      urls: [local.rpcUrl ?? ''],
      fetch: (input, init) => (isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init)),
    }),
  } as unknown as Chain
  context = testContext((async () => []) as unknown as Sql, { clock: () => now * 1_000 }).context
})
afterAll(() => local.close())
beforeEach(() => {
  now = 1_800_000_000.5
  isDown = false
})

const termsOf = (agentId: bigint) => ({ agentId, cashbackOfCommissionBps: 100 })

/** The proof for step 2: `account` signs the commitment of step 1. */
async function signedBy(account: LocalAccount, agentId: bigint) {
  const { commitment, nonce, expiry } = proposeCommitment(context, chain, TYPE, termsOf(agentId))
  const agentSig = await account.signTypedData(commitment as unknown as TypedDataDefinition)
  return { nonce, expiry, agentSig }
}

const check = (agentId: bigint, proof: { nonce?: unknown; expiry?: unknown; agentSig?: unknown }) =>
  requireSigned(context, chain, TYPE, termsOf(agentId), {
    nonce: undefined,
    expiry: undefined,
    agentSig: undefined,
    ...proof,
  })

/** An agent that was transferred to this owner without the owner's signature. */
async function agentOf(owner: Address): Promise<bigint> {
  const { reviewer } = market.accounts
  const agentId = await registerIdentity(market, reviewer)
  const data = encodeFunctionData({
    abi: identityRegistryAbi,
    functionName: 'transferFrom',
    args: [reviewer.address, owner, agentId],
  })
  const to = market.addresses.IdentityRegistry
  await confirmed(market, await market.client.sendTransaction({ account: reviewer, to, data }))
  return agentId
}

let contracts = 0xc0de_0000

async function agentOfContract(bytecode: Hex): Promise<bigint> {
  const address = numberToHex(++contracts, { size: 20 })
  await market.client.setCode({ address, bytecode })
  return agentOf(address)
}

describe('step 2', () => {
  it('says what is wrong first, in the order of the checks', async () => {
    const { reviewer, stranger } = market.accounts
    const agentId = await registerIdentity(market, reviewer)
    const { nonce, agentSig } = await signedBy(stranger, agentId)
    const expiry = Math.floor(now)
    const malformed = { nonce: '7', expiry, agentSig: '0x12' }
    const unrecoverable = `0x${'ff'.repeat(65)}`
    const steps: [object, string | RegExp][] = [
      [{}, 'nonce and expiry are required with agent_sig: invalid input'],
      [{ ...malformed, nonce: null }, 'nonce and expiry are required with agent_sig: invalid input'],
      [{ ...malformed, expiry: null }, 'nonce and expiry are required with agent_sig: invalid input'],
      [malformed, 'commitment expired: invalid input'],
      [{ ...malformed, expiry: expiry + HOUR + 1 }, 'invalid expiry: invalid input'],
      [{ ...malformed, expiry: String(expiry + 1) }, 'invalid expiry: invalid input'],
      [{ ...malformed, expiry: expiry + 1.5 }, 'invalid expiry: invalid input'],
      [
        { ...malformed, expiry: expiry + HOUR },
        'invalid nonce: must be 0x-prefixed 32-byte hex: invalid input',
      ],
      [
        { ...malformed, expiry: expiry + HOUR, nonce },
        'invalid agent_sig: must be 0x-prefixed 65-byte hex: invalid input',
      ],
      [
        { expiry: expiry + HOUR, nonce, agentSig: unrecoverable },
        /^recover signer: no signer can be recovered.*: invalid input$/,
      ],
    ]
    for (const [proof, message] of steps)
      for (const agent of [agentId, 999n])
        await expect(check(agent, proof)).rejects.toMatchObject({
          kind: 'invalid input',
          message: typeof message === 'string' ? message : expect.stringMatching(message),
        })
    const byAnother = { nonce, expiry: expiry + HOUR, agentSig }
    await expect(check(999n, byAnother)).rejects.toMatchObject({ kind: 'not found' })
    await expect(check(agentId, byAnother)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: `signature not from agent owner: recovered ${stranger.address}, want ${reviewer.address}: unauthorized`,
    })
    isDown = true
    await expect(check(agentId, byAnother)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('takes what the owner signed until it expires, as often as it comes', async () => {
    const { reviewer } = market.accounts
    const agentId = await registerIdentity(market, reviewer)
    const { nonce, expiry, agentSig } = await signedBy(reviewer, agentId)
    const signed = { owner: reviewer.address, nonce, expiry, signature: agentSig }
    expect(await check(agentId, { nonce, expiry, agentSig })).toEqual(signed)
    now = expiry
    expect(await check(agentId, { nonce, expiry, agentSig })).toEqual(signed)
    now = expiry + 0.001
    await expect(check(agentId, { nonce, expiry, agentSig })).rejects.toThrow('commitment expired')
  })
})

describe('an owner that is a contract', () => {
  it('decides by itself whose signature is its own', async () => {
    const { buyer, stranger } = market.accounts
    const agentId = await agentOfContract(keptBy(buyer.address))
    const { owner } = await check(agentId, await signedBy(buyer, agentId))
    expect(owner).not.toBe(buyer.address)
    await expect(check(agentId, await signedBy(stranger, agentId))).rejects.toMatchObject({
      kind: 'unauthorized',
    })
  })

  it('may know signatures that are nobody else’s', async () => {
    const { buyer } = market.accounts
    const agentId = await agentOfContract(AGREE)
    const proof = { ...(await signedBy(buyer, agentId)), agentSig: `0x${'ff'.repeat(65)}` }
    expect(await check(agentId, proof)).toMatchObject({ signature: proof.agentSig })
    await expect(check(await agentOfContract(REVERT), proof)).rejects.toThrow('recover signer: ')
  })

  it.each([
    ['refuses the question', () => agentOfContract(REVERT)],
    ['has no answer', () => agentOfContract('0x00')],
    ['gives the question back', () => agentOf(IDENTITY_PRECOMPILE)],
    ['is no contract', () => agentOf(numberToHex(0xdead, { size: 20 }))],
  ])('has not signed when it %s', async (_, newAgent) => {
    const agentId = await newAgent()
    const proof = await signedBy(market.accounts.buyer, agentId)
    await expect(check(agentId, proof)).rejects.toMatchObject({ kind: 'unauthorized' })
  })
})
