import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestMarket, type TestMarket } from './market.ts'

let m: TestMarket

beforeAll(async () => {
  m = await startTestMarket()
})
afterAll(() => m.close())

describe('sessions', () => {
  it('opens a session with one signature over an empty body [AUTH-24, AUTH-25]', async () => {
    const { buyer } = m.market.accounts
    const opened = await m.call('POST', '/v1/auth/session', { as: buyer })
    expect(opened.status).toBe(200)
    expect(Object.keys(opened.body)).toEqual(['token', 'expires_at'])
    const closed = await m.call('DELETE', '/v1/auth/session', { token: opened.body.token })
    expect(closed.status).toBe(204)
    const again = await m.call('DELETE', '/v1/auth/session', { token: opened.body.token })
    expect(again).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
  })
})
