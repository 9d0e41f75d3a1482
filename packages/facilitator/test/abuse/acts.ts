// What people do on the chain by themselves, behind the facilitator's back.

import { confirmed, publishWithProof, registerIdentity } from '@referrer/contracts/local'
import { Attribution, type AttributionToken } from '@referrer/protocol'
import {
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  sandboxUSDCAbi,
  splitRouterAbi,
} from '@referrer/protocol/abi'
import {
  type Abi,
  type Address,
  encodeFunctionData,
  type Hash,
  type Hex,
  type LocalAccount,
  parseGwei,
} from 'viem'
import type { Facilitator } from '../../src/facilitator.ts'
import type { State } from '../../src/settlement/states.ts'
import { type Answer, send as ask } from '../asking.ts'
import { eventually } from '../eventually.ts'
import type { TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'

const contracts = {
  USDC: sandboxUSDCAbi,
  SplitRouter: splitRouterAbi,
  CommissionEscrow: commissionEscrowAbi,
  MerchantRegistry: merchantRegistryAbi,
  IdentityRegistry: identityRegistryAbi,
} satisfies Record<string, Abi>

export interface Deed {
  by: LocalAccount
  on: keyof typeof contracts
  /** A function by its name and arguments. */
  call: [string, ...unknown[]]
}

/** Into the pool, ahead of everybody who pays a usual fee; whether it is mined is the chain's affair. */
export async function send(
  m: TestFacilitator,
  { by, on, call: [functionName, ...args] }: Deed,
): Promise<Hash> {
  const data = encodeFunctionData({ abi: contracts[on] as Abi, functionName, args })
  const fees = { maxPriorityFeePerGas: parseGwei('50'), maxFeePerGas: parseGwei('100') }
  return m.chain.client.sendTransaction({
    account: by,
    to: m.market.addresses[on],
    data,
    gas: 1_000_000n,
    ...fees,
  })
}

/** And it took effect. */
export async function act(m: TestFacilitator, deed: Deed): Promise<Hash> {
  const hash = await send(m, deed)
  await confirmed(m.market, hash)
  return hash
}

/** Anybody may submit a bare transfer to the token. */
export function submission(
  m: TestFacilitator,
  { paymentPayload }: Body,
  as: 'transfer' | 'receive' = 'transfer',
): Deed {
  const { authorization, signature } = paymentPayload.payload
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const numbers = [value, validAfter, validBefore].map(BigInt)
  return {
    by: m.market.accounts.stranger,
    on: 'USDC',
    call: [`${as}WithAuthorization`, from, to, ...numbers, nonce, signature],
  }
}

/** Anybody may have the router settle a payment whose nonce commits to its attribution. */
export function settlement(m: TestFacilitator, { paymentPayload }: Body, kind: 0 | 1 = 0): Deed {
  const { payload, extensions } = paymentPayload
  const { from, value, validAfter, validBefore, nonce } = payload.authorization
  const purchase = {
    authorization: {
      kind,
      from,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce,
      signature: payload.signature,
    },
    attribution: Attribution.from(m.till.terms, { salt: extensions.attributionSalt as Hex }),
  }
  return { by: m.market.accounts.stranger, on: 'SplitRouter', call: ['settle', purchase] }
}

/** The payer takes the authorisation back; somebody else pays for the gas. */
export async function cancellation(
  m: TestFacilitator,
  payer: LocalAccount,
  { paymentPayload }: Body,
): Promise<Deed> {
  const { nonce } = paymentPayload.payload.authorization
  const signature = await payer.signTypedData({
    domain: { ...m.till.token, chainId: m.chainId, verifyingContract: m.till.usdc },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce: nonce as Hex },
  })
  const { stranger } = m.market.accounts
  return { by: stranger, on: 'USDC', call: ['cancelAuthorization', payer.address, nonce, signature] }
}

export const openMerchant = (m: TestFacilitator, isOpen: boolean): Deed => ({
  by: m.merchant.account,
  on: 'MerchantRegistry',
  call: ['setActive', m.merchant.merchantId, isOpen],
})

/** Nothing is mined until `mine`: what was tried out waits for its block, and others can be in it first. */
export async function betweenBlocks<T>(
  m: TestFacilitator,
  work: (blocks: { sent(payments: number): Promise<void>; mine(): Promise<void> }) => Promise<T>,
): Promise<T> {
  const { client } = m.chain
  const seen = m.events.length
  /** How many payments the pool has transactions for. */
  const payments = () => {
    const events = m.events.slice(seen)
    const sizes = events.flatMap((event) => (event.type === 'sending' ? [event.size] : []))
    const broadcasts = events.filter((event) => event.type === 'sender' && event.event.type === 'broadcast')
    return broadcasts.length < sizes.length ? 0 : sizes.reduce((sum, size) => sum + size, 0)
  }
  await client.setAutomine(false)
  try {
    return await work({
      sent: (count) => eventually(payments).toBe(count),
      mine: () => client.mine({ blocks: 1 }),
    })
  } finally {
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
  }
}

/** The answer to a payment. */
export type Settle = (body: Body) => Promise<Answer['body']>

/** A facilitator whose batch leaves when it has so many payments, or after five seconds: on a busy machine they arrive one by one. */
export async function inOneBatch<T>(
  m: TestFacilitator,
  size: number,
  work: (settle: Settle) => Promise<T>,
): Promise<T> {
  const { url, stop } = await m.startAnother({ LINGER_MS: '5000', MAX_BATCH: String(size) })
  try {
    return await work(async (body) => (await ask(url, 'POST', '/settle', { body })).body)
  } finally {
    await stop()
  }
}

/** Until so many callers wait for the answer of `/settle`. */
export async function waitingAt({ url }: { url: string }, count: number): Promise<void> {
  await eventually(async () => {
    const figures = await (await fetch(`${url}/metrics`)).text()
    return figures.match(/^referrer_payments_in_progress\{route="\/settle"\} (\d+)$/m)?.[1]
  }).toBe(String(count))
}

/** Until a payment has come so far at this facilitator, from now on. */
export function reached({ context }: Facilitator, state: State): Promise<void> {
  const { tracing } = context
  const { promise, resolve } = Promise.withResolvers<void>()
  context.tracing = {
    ...tracing,
    run(name, attributes, work) {
      if (name === `settlement ${state}`) resolve()
      return tracing.run(name, attributes, work)
    },
  }
  return promise.finally(() => {
    context.tracing = tracing
  })
}

export interface OtherReviewer {
  account: LocalAccount
  agentId: bigint
  terms: AttributionToken.Terms
  attributionToken: string
}

/** Somebody else who has reviewed the same product, with a link of their own. */
export async function otherReviewer(
  m: TestFacilitator,
  account: LocalAccount,
  proofId: bigint,
): Promise<OtherReviewer> {
  const { merchantId, productId } = m.merchant
  const agentId = await registerIdentity(m.market, account)
  const content = '{"rating":4,"description":"Fine"}'
  const review = { agentId, product: { merchantId, productId }, content, proofId }
  const { reviewId } = await publishWithProof(m.market, account, review)
  const change = { reviewId: Number(reviewId), reviewerAgentId: Number(agentId) }
  const terms = { ...m.till.terms, ...change }
  return { account, agentId, terms, attributionToken: await m.mint(change) }
}

/** The token's issuer refuses to move money of or to somebody. */
export const block = (m: TestFacilitator, account: Address, isBlocked: boolean): Deed => ({
  by: m.market.accounts.deployer,
  on: 'USDC',
  call: [isBlocked ? 'blacklist' : 'unBlacklist', account],
})
