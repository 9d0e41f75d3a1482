import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signInMessage } from '../../service/test/http/caller.ts'
import { BASE_URL, newAgent, startTestMarket, type TestMarket } from '../../service/test/http/market.ts'
import { createReferrerClient, type ReferrerClientOptions } from '../src/index.ts'
import { thrown } from './world.ts'

let m: TestMarket
let owner: LocalAccount

beforeAll(async () => {
  m = await startTestMarket()
  owner = m.market.accounts.reviewer
})
afterAll(() => m?.close())

/** A page of the market in a browser, which keeps the cookie and says where requests are from. */
function openPage(options: Partial<ReferrerClientOptions> = {}) {
  const asked: { name: string; headers: Headers }[] = []
  let cookie = ''
  const client = createReferrerClient({
    url: BASE_URL,
    session: 'cookie',
    chainId: m.chainId,
    async fetch(input, init) {
      const path = String(input).slice(BASE_URL.length)
      const headers = new Headers(init?.headers)
      asked.push({ name: `${init?.method} ${path.split('?')[0]}`, headers: new Headers(headers) })
      headers.set('sec-fetch-site', 'same-origin')
      if (cookie) headers.set('cookie', cookie)
      const answer = await fetch(`${m.service.url}${path}`, { ...init, headers })
      cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie
      return answer
    },
    ...options,
  })
  async function signIn(account: LocalAccount) {
    const message = await signInMessage(m.call, account.address)
    const body = { message, signature: await account.signMessage({ message }) }
    return client.post('/console/session', { body })
  }
  return { client, asked, signIn }
}

const setCap = ({ client }: ReturnType<typeof openPage>, per_tx_cap_usdc: number) =>
  client.post('/v1/spending-limits', { body: { chain_id: m.chainId, per_tx_cap_usdc } })

describe('a client whose session is a cookie', () => {
  it('marks its requests as those of the page and sends no token', async () => {
    const page = openPage()
    expect((await page.signIn(owner)).address).toBe(owner.address)
    expect((await setCap(page, 51)).per_tx_cap_usdc).toBe(51)
    expect((await page.client.get('/console/session')).address).toBe(owner.address)
    for (const { headers } of page.asked) {
      expect(headers.get('x-referrer-console')).toBe('1')
      for (const name of ['authorization', 'x-agent-signature', 'x-agent-timestamp']) {
        expect(headers.get(name)).toBeNull()
      }
    }
  })

  it('reads what is public as everybody does', async () => {
    const { client, asked } = openPage()
    await client.get('/v1/review')
    expect(asked.map(({ headers }) => headers.get('x-referrer-console'))).toEqual([null])
  })

  it('asks for no signature but those of commitments', async () => {
    const agentId = Number(await newAgent(m, owner))
    const signed: string[] = []
    const page = openPage({
      account: {
        address: owner.address,
        signMessage: (args) => {
          signed.push('message')
          return owner.signMessage(args)
        },
        signTypedData: (typed) => {
          signed.push(typed.primaryType)
          return owner.signTypedData(typed)
        },
      },
    })
    const refused = await thrown(setCap(page, 52))
    expect(refused).toMatchObject({ status: 401 })
    expect(page.asked.map(({ name }) => name)).toEqual(['POST /v1/spending-limits'])
    await page.signIn(owner)
    await page.client.setCashbackRate({ reviewer_agent_id: agentId, cashback_of_commission_bps: 500 })
    expect(signed).toEqual(['CashbackRateCommitment'])
  })

  it('signs out at the market, and in by the page only', async () => {
    const page = openPage()
    await page.signIn(owner)
    await page.client.signOut()
    expect(page.asked.at(-1)?.name).toBe('DELETE /console/session')
    expect((await page.client.get('/console/session')).address).toBeNull()
    expect(await thrown(setCap(page, 53))).toMatchObject({ status: 401 })
    const before = page.asked.length
    expect((await thrown(page.client.signIn())).message).toContain('POST /console/session')
    expect(page.asked).toHaveLength(before)
  })

  it('is for pages of the market: other clients are told so before they ask', async () => {
    const { client, asked } = openPage({ session: undefined, account: owner })
    expect((await thrown(client.get('/console/session'))).message).toContain("session: 'cookie'")
    expect(asked).toEqual([])
  })
})
