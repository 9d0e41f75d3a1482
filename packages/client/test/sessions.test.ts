import type { LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, startTestMarket, type TestMarket } from '../../service/test/http/market.ts'
import { clientOf, type TestClient, thrown } from './world.ts'

const HOUR_MS = 3_600_000

let m: TestMarket
let owner: LocalAccount

beforeAll(async () => {
  m = await startTestMarket()
  owner = m.market.accounts.reviewer
})
afterAll(() => m?.close())
afterEach(() => {
  m.clock.aheadMs = 0
})

const setCap = (market: TestClient, per_tx_cap_usdc: number) =>
  market.post('/v1/spending-limits', { body: { chain_id: m.chainId, per_tx_cap_usdc } })
const signIns = ({ asked }: TestClient) =>
  asked.filter(({ method, path }) => method === 'POST' && path === '/v1/auth/session')
const signatures = ({ asked }: TestClient) => asked.filter(({ headers }) => 'x-agent-signature' in headers)

describe('a session', () => {
  it('stands for the signature from the sign-in on [AUTH-26 otherwise]', async () => {
    const market = clientOf(m, { account: owner })
    const session = await market.signIn()
    expect(Date.parse(session.expires_at)).toBeGreaterThan(Date.now())
    expect((await setCap(market, 11)).per_tx_cap_usdc).toBe(11)
    expect(signatures(market)).toEqual([])
    expect(market.asked.at(-1)?.headers.authorization).toBe(`Bearer ${session.token}`)
  })

  it('is signed for by a message that names the market, its chain, and the account', async () => {
    const market = clientOf(m, { account: owner })
    await market.signIn()
    const { message } = JSON.parse(signIns(market)[0]?.body ?? '')
    const { host } = new URL(BASE_URL)
    expect(message).toContain(`${host} wants you to sign in with your Ethereum account:\n${owner.address}\n`)
    expect(message).toContain(`\nURI: ${BASE_URL}\n`)
    expect(message).toContain(`\nChain ID: ${m.chainId}\n`)
  })

  it('can be kept, and used by a client that cannot sign', async () => {
    const session = await clientOf(m, { account: owner }).signIn()
    const market = clientOf(m, { session })
    expect((await setCap(market, 12)).per_tx_cap_usdc).toBe(12)
    await market.signOut()
    expect(await thrown(setCap(clientOf(m, { session }), 13))).toMatchObject({ status: 401 })
  })

  it('is renewed when its time is over, before the market refuses it', async () => {
    const market = clientOf(m, { account: owner })
    const first = await market.signIn()
    m.clock.aheadMs = HOUR_MS
    expect((await setCap(market, 14)).per_tx_cap_usdc).toBe(14)
    expect(signIns(market).length).toBe(2)
    expect(market.asked.at(-1)?.headers.authorization).not.toBe(`Bearer ${first.token}`)
    expect(market.asked.filter(({ path }) => path === '/v1/spending-limits').length).toBe(1)
  })

  it('is renewed when the market has ended it, and the request is sent again', async () => {
    const market = clientOf(m, { account: owner })
    const session = await market.signIn()
    await clientOf(m, { session }).signOut()
    const caps = await Promise.all([setCap(market, 15), setCap(market, 15)])
    expect(caps.map(({ per_tx_cap_usdc }) => per_tx_cap_usdc)).toEqual([15, 15])
    expect(signIns(market).length).toBe(2)
    expect(signatures(market)).toEqual([])
  })

  it('is opened once for requests that come together', async () => {
    const market = clientOf(m, { account: m.market.accounts.admin })
    await Promise.all([
      market.get('/admin/proofs'),
      market.get('/admin/disputes'),
      market.get('/admin/checklists'),
    ])
    expect(signIns(market).length).toBe(1)
  })

  it('ends with the sign-out at the market too, and the account signs again [AUTH-28]', async () => {
    const market = clientOf(m, { account: owner })
    const session = await market.signIn()
    await market.signOut()
    expect(await thrown(setCap(clientOf(m, { session }), 1))).toMatchObject({ status: 401 })
    await setCap(market, 16)
    expect(signatures(market).length).toBe(1)
  })

  it('is signed out of without a new one, ended or not, and twice', async () => {
    const market = clientOf(m, { account: owner })
    await market.signOut()
    expect(market.asked).toEqual([])
    await market.signIn()
    m.clock.aheadMs = HOUR_MS
    await market.signOut()
    await market.signOut()
    expect(signIns(market).length).toBe(1)
    expect(market.asked.filter(({ method }) => method === 'DELETE').length).toBe(1)
  })

  it('is kept when the market fails for another reason', async () => {
    const market = clientOf(m, { account: owner })
    await market.signIn()
    await m.withoutTable('market.sessions', async () => {
      expect((await thrown(setCap(market, 17))).status).toBe(500)
    })
    expect(signIns(market).length).toBe(1)
    expect((await setCap(market, 17)).per_tx_cap_usdc).toBe(17)
  })
})
