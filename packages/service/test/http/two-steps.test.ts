// What both pairs of routes in two steps, votes and the cashback rate, have in common.
import type { LocalAccount, TypedDataDefinition } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setAgentWallet } from '../calls.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import { CASHBACK_RATE, pledgeBody, signedBody, VOTES } from './commitments.ts'
import { NO_WORK } from './market.ts'
import { ballotOf, startVoting, type Voting } from './voting.ts'

const HOUR = 3_600

let v: Voting
/** Owns the agent of both calls. */
let owner: LocalAccount
/** The wallet that the agent is bound to. */
let bound: LocalAccount
let stranger: LocalAccount
/** While set, the service's clock stands still at this time. */
let stoppedAt: number | undefined

beforeAll(async () => {
  v = await startVoting({ overrides: { ...NO_WORK, clock: () => stoppedAt ?? Date.now() } })
  owner = v.buyer.owner
  ;({ stranger, admin: bound } = v.m.market.accounts)
  const { timestamp } = await v.m.market.client.getBlock()
  await send(v.m, await setAgentWallet(v.m, owner, { agentId: v.buyer.agentId, wallet: bound }, timestamp))
})
afterAll(() => v.m.close())

type Body = Record<string, unknown>

/** The route, a body that was not used before, the answer to success and that to a wrong signer. */
const PAIRS: [path: string, body: () => Promise<Body>, done: object][] = [
  [VOTES, async () => ballotOf(v, (await v.bought()).escrowId), { status: 'ok', votes_recorded: 1 }],
  [CASHBACK_RATE, async () => pledgeBody({ agentId: v.buyer.agentId, bps: 500 }), { status: 'set' }],
]
const FORBIDDEN = { status: 403, body: { error: 'not authorized' } }

describe.each(PAIRS)('%s', (path, bodyOf, done) => {
  const signed = async (signer: LocalAccount) =>
    signedBody(v.m, path, { as: owner, signer, body: await bodyOf() })
  const finish = (body: unknown, as: LocalAccount, timestamp?: number) =>
    v.m.call('POST', `${path}/step2`, { as, body, ...(timestamp !== undefined && { timestamp }) })

  it('asks who signed the commitment, not who signed the request [AUTH-17]', async () => {
    expect(await finish(await signed(stranger), owner)).toMatchObject(FORBIDDEN)
    expect(await finish(await signed(owner), stranger)).toMatchObject({ status: 200, body: done })
  })

  it('refuses the wallet that the agent is bound to, and takes the owner [AUTH-23 otherwise]', async () => {
    expect(await finish(await signed(bound), bound)).toMatchObject(FORBIDDEN)
    expect(await finish(await signed(owner), bound)).toMatchObject({ status: 200, body: done })
  })

  it('gives one hour between the steps, and no second more [LIM-03]', async () => {
    const kept = await signed(owner)
    const body = await bodyOf()
    const now = Math.floor(Date.now() / 1_000)
    const past = Number(kept.expiry) + 1
    try {
      stoppedAt = now * 1_000
      const { expiry } = await must(v.m.call('POST', `${path}/step1`, { as: stranger, body, timestamp: now }))
      expect(expiry - now).toBe(HOUR)
      stoppedAt = past * 1_000
      expect((await finish(kept, owner, past)).body.error).toMatch(/^commitment expired\b/)
    } finally {
      stoppedAt = undefined
    }
    expect((await finish(kept, owner)).status).toBe(200)
  })

  it('has the version "1" in its domain, and takes a signature of no other [VER-03]', async () => {
    const body = await bodyOf()
    const { commitment, nonce, expiry } = await must(v.m.call('POST', `${path}/step1`, { as: owner, body }))
    expect(commitment.domain.version).toBe('1')
    const domain = { ...commitment.domain, version: '2' }
    const signAs = async (typed: TypedDataDefinition) => ({
      ...body,
      ...{ nonce, expiry, agent_sig: await owner.signTypedData(typed) },
    })
    expect(await finish(await signAs({ ...commitment, domain }), owner)).toMatchObject(FORBIDDEN)
    expect((await finish(await signAs(commitment), owner)).status).toBe(200)
  })
})
