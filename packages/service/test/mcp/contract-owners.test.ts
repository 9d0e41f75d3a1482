// Wallets that people have as owners of agents: Safe, deployed or not yet, and an account with a key that delegates to code.
import { confirmed, escrowTerms, listProduct, mintUsdc, registerIdentity } from '@referrer/contracts/local'
import {
  delegatedAccount,
  deploySafeContracts,
  deploySimple7702,
  foreseeSafe,
  type Safe,
  type SafeContracts,
} from '@referrer/contracts/local/wallets'
import { Attribution, ContentHash } from '@referrer/protocol'
import { commissionEscrowAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import {
  type Address,
  encodeFunctionData,
  type Hash,
  type Hex,
  type LocalAccount,
  parseEventLogs,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must, signInMessage } from '../http/caller.ts'
import { transfer } from '../http/chain.ts'
import { pledgeBody, voteBody } from '../http/commitments.ts'
import { generic, productOf, SILENT_BOT } from '../http/market.ts'
import { register } from '../http/reviews.ts'
import { startVoting, type Voting } from '../http/voting.ts'
import { connectMcp, type McpCaller } from './client.ts'
import { EXECUTED, intentsOf, POLL, SKIPPED } from './intents.ts'
import { TWO_STEPS } from './names.ts'
import { approved, argsOf, type Desk, published } from './submitting.ts'
import { inTwoSteps, signedArgs } from './two-steps.ts'

let v: Voting
let mcp: McpCaller
let safes: SafeContracts
let code7702: Address

beforeAll(async () => {
  v = await startVoting({ env: SILENT_BOT })
  // The reviews of the vote were published with the first ids.
  await v.m.sql`SELECT setval(pg_get_serial_sequence('market.proofs', 'proof_id'), 1000)`
  mcp = await connectMcp(v.m)
  safes = await deploySafeContracts(v.m.market)
  code7702 = await deploySimple7702(v.m.market)
})
afterAll(async () => {
  await mcp.close()
  await v.m.close()
})

async function deployedSafe(owners: number): Promise<Safe> {
  const safe = foreseeSafe(v.m.market, safes, owners)
  await safe.deploy()
  return safe
}

const WALLETS: [string, () => Promise<LocalAccount>][] = [
  ['a Safe of one owner', () => deployedSafe(1)],
  ['a Safe of three owners', () => deployedSafe(3)],
  ['a Safe that is not deployed', async () => foreseeSafe(v.m.market, safes, 2)],
  ['an account that delegates to code', () => delegatedAccount(v.m.market, code7702)],
]

const deskOf = (agentId: bigint, product = v.product): Desk => ({
  m: v.m,
  mcp,
  owner: v.buyer.owner,
  agentId,
  product,
})

type Args = Record<string, unknown>
let products = 1

/** A new agent of this wallet, and arguments for each tool, as far as they are to be prepared by somebody with a key. */
async function agentOf(wallet: LocalAccount): Promise<Record<string, Args>> {
  const { m, buyer, others } = v
  const { owner } = buyer
  const agentId = await registerIdentity(m.market, owner)
  const product = { ...v.product, productId: productOf(++products) }
  await listProduct(m.market, m.market.accounts.merchant, product)
  const { escrowId } = await v.bought({ buyerAgentId: agentId })
  const desk = deskOf(agentId, product)
  const its = intentsOf(m, mcp, owner)
  const agent = { agent_id: Number(agentId) }
  const args = {
    cast_review_votes: voteBody({ agentId, escrowId, votes: [others[0].internalId] }),
    set_cashback_rate: pledgeBody({ agentId, bps: 500 }),
    submit_review: { ...argsOf(desk, await approved(desk)) },
    link_messenger: agent,
    [POLL]: agent,
    [EXECUTED]: { ...agent, intent_id: await its.queue(agentId) },
    [SKIPPED]: { ...agent, intent_id: await its.queue(agentId), reason: 'too dear' },
  }
  await transfer(m, owner, wallet.address, agentId)
  await m.indexed()
  return args
}

describe.each(WALLETS)('%s', (_, newWallet) => {
  it('signs every commitment for the agent that it owns, and nobody else does', async () => {
    const [wallet, other] = [await newWallet(), await newWallet()]
    const prepared = await agentOf(wallet)
    for (const tool of TWO_STEPS) {
      const args = prepared[tool]
      if (!args) throw new Error(`no arguments for ${tool}`)
      const byOther = await mcp.call(tool, await signedArgs(mcp, tool, other, args))
      expect([tool, byOther.isError]).toEqual([tool, true])
      const signed = await signedArgs(mcp, tool, wallet, args)
      if (tool === 'submit_review' && 'deploy' in wallet && !(await (wallet as Safe).isDeployed())) {
        expect(await mcp.call(tool, signed)).toMatchObject({
          isError: true,
          text: expect.stringContaining('deploy the wallet first'),
        })
        continue
      }
      const { isError, text, structured } = await mcp.call(tool, signed)
      expect([tool, isError, text]).toEqual([tool, false, text])
      if (tool === 'submit_review') await published(deskOf(v.buyer.agentId), structured.review_id)
    }
  })

  it('signs in', async () => {
    const [wallet, other] = [await newWallet(), await newWallet()]
    const message = await signInMessage(v.m.call, wallet.address)
    const signIn = async (by: LocalAccount) =>
      v.m.call('POST', '/v1/auth/session', {
        body: { message, signature: await by.signMessage({ message }) },
      })
    expect((await signIn(other)).status).toBe(401)
    const { token } = await must(signIn(wallet))
    await must(
      v.m.call('POST', '/v1/spending-limits', { token, body: { chain_id: v.m.chainId, per_tx_cap_usdc: 1 } }),
    )
  })
})

describe('a review of the owner that is not deployed', () => {
  it('is published by the same signature once it is', async () => {
    const wallet = foreseeSafe(v.m.market, safes)
    const { submit_review: args = {} } = await agentOf(wallet)
    const signed = await signedArgs(mcp, 'submit_review', wallet, args)
    expect((await mcp.call('submit_review', signed)).isError).toBe(true)
    await wallet.deploy()
    const { isError, structured } = await mcp.call('submit_review', signed)
    expect(isError).toBe(false)
    await published(deskOf(v.buyer.agentId), structured.review_id)
  })
})

describe('by its own transaction', () => {
  /** Sends a call as a wallet. */
  type Sender = LocalAccount & { send(to: Address, data: Hex): Promise<Hash> }

  async function safe(): Promise<Sender> {
    const made = await deployedSafe(2)
    return { ...made, send: made.execute }
  }

  async function delegated(): Promise<Sender> {
    const { client } = v.m.market
    const account = await delegatedAccount(v.m.market, code7702)
    await client.setBalance({ address: account.address, value: 10n ** 18n })
    return { ...account, send: (to, data) => client.sendTransaction({ account, to, data }) }
  }

  it.each([
    ['a Safe', safe],
    ['an account that delegates to code', delegated],
  ])('%s binds its purchase to its agent and reviews it', async (_, newWallet) => {
    const { market } = v.m
    const wallet = await newWallet()
    await mintUsdc(market, wallet.address, 10_000_000n)
    const deposit = await v.bought({ buyerAgentId: Attribution.AGENTLESS_BUYER_ID }, wallet)
    const agentId = await registerIdentity(market, v.buyer.owner)
    await transfer(v.m, v.buyer.owner, wallet.address, agentId)
    const { CommissionEscrow, ReviewRegistry } = market.addresses
    const terms = escrowTerms(deposit)
    const bind = { abi: commissionEscrowAbi, functionName: 'bind', args: [terms, agentId] } as const
    await confirmed(market, await wallet.send(CommissionEscrow, encodeFunctionData(bind)))
    await v.m.indexed()
    const votes = [v.others[0].internalId]
    const ballot = voteBody({ agentId, escrowId: deposit.escrowId, votes })
    expect(await inTwoSteps(mcp, 'cast_review_votes', wallet, ballot)).toMatchObject({ isError: false })
    const content = generic(4, 'As it was told')
    const contentHash = ContentHash.contentHash({ agentId, ...v.product, content })
    const data = encodeFunctionData({
      abi: reviewRegistryAbi,
      functionName: 'publishWithEscrow',
      args: [CommissionEscrow, { ...terms, buyerAgentId: agentId }, contentHash],
    })
    const { logs } = await confirmed(market, await wallet.send(ReviewRegistry, data))
    const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
    await v.m.indexed()
    const escrow_id = Number(deposit.escrowId)
    const body = { review_id: Number(event?.args.reviewId), escrow_id, content_json: content }
    expect(await must(register(v.m, body))).toMatchObject({ review_id: expect.any(Number) })
  })
})
