import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestMarket, type TestMarket } from '../../test/http/market.ts'

let m: TestMarket
const AGENT = 700
const cold = { rank: null, commission_multiplier_bps: 7_000, cold_start: true }
const coldOneOff = { ...cold, commission_multiplier_bps: 6_502 }

beforeAll(async () => {
  m = await startTestMarket()
})
afterAll(() => m.close())

const rankOf = async (agentId: number) =>
  (await m.call('GET', `/v1/review-rank/${agentId}`, { as: m.market.accounts.stranger })).body
const means = async () => (await m.call('GET', '/v1/stats/mean-rank')).body
const rank = (agentId: number, repeat: number | null, oneOff: number | null) => m.sql`
  INSERT INTO market.review_ranks VALUES (${m.chainId}, ${agentId}, ${repeat}, ${oneOff})
  ON CONFLICT (chain_id, agent_id) DO UPDATE SET repeat = excluded.repeat, one_off = excluded.one_off`

describe('ranks', () => {
  it('begin at the base rates, for agents that nobody knows too', async () => {
    expect(await means()).toEqual({ one_off: 0.417, repeat: 0.5 })
    for (const agentId of [0, AGENT, Number.MAX_SAFE_INTEGER]) {
      expect(await rankOf(agentId)).toEqual({
        repeat: cold,
        one_off: coldOneOff,
        platform_mean_repeat: 0.5,
        platform_mean_one_off: 0.417,
        flagged: false,
      })
    }
  })

  it('are shown by product type beside the means, asked for one by one or all at once', async () => {
    await rank(AGENT, 0.25, null)
    await rank(AGENT + 1, 1, 0)
    const platform = { platform_mean_repeat: 0.625, platform_mean_one_off: 0, flagged: false }
    const expected = [
      { repeat: { rank: 0.25, commission_multiplier_bps: 5_500, cold_start: false }, one_off: coldOneOff },
      {
        repeat: { rank: 1, commission_multiplier_bps: 10_000, cold_start: false },
        one_off: { rank: 0, commission_multiplier_bps: 4_000, cold_start: false },
      },
      { repeat: cold, one_off: coldOneOff },
    ].map((ranks) => ({ ...ranks, ...platform }))
    expect(await Promise.all([0, 1, 2].map((at) => rankOf(AGENT + at)))).toEqual(expected)
    expect(await means()).toEqual({ one_off: 0, repeat: 0.625 })
  })

  it('of a flagged agent are zero, computed or not', async () => {
    await m.sql`INSERT INTO market.agents (chain_id, agent_id, flagged) VALUES (${m.chainId}, ${AGENT}, true)`
    const none = { rank: 0, commission_multiplier_bps: 4_000, cold_start: false }
    expect(await rankOf(AGENT)).toMatchObject({ repeat: none, one_off: none, flagged: true })
  })

  it('leave the means with whoever is still ranked', async () => {
    await m.sql`DELETE FROM market.review_ranks WHERE agent_id = ${AGENT + 1}`
    expect(await means()).toEqual({ one_off: 0.417, repeat: 0.25 })
    await rank(AGENT, 0.1, 0.2)
    expect(await means()).toEqual({ one_off: 0.2, repeat: 0.1 })
  })
})
