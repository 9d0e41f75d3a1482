import { numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OWN_PAGE } from './caller.ts'
import { NO_WORK, startTestMarket, type TestMarket } from './market.ts'

const KEY = numberToHex(7, { size: 32 })

let sandbox: TestMarket

beforeAll(async () => {
  sandbox = await startTestMarket({
    overrides: NO_WORK,
    env: { CONSOLE_ACCOUNTS: JSON.stringify([{ name: 'buyer', private_key: KEY }]) },
  })
})
afterAll(() => sandbox.close())

const rpc = (method: string, headers: Record<string, string> = OWN_PAGE) =>
  sandbox.call('POST', '/console/rpc', { headers, body: { jsonrpc: '2.0', id: 7, method, params: [] } })

describe('accounts of a sandbox', () => {
  it('are told to its own pages, and to nobody else', async () => {
    const answer = await sandbox.call('GET', '/console/accounts', { headers: OWN_PAGE })
    expect(answer).toMatchObject({
      status: 200,
      body: { accounts: [{ name: 'buyer', private_key: KEY }] },
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect((await sandbox.call('GET', '/console/accounts')).status).toBe(401)
    const elsewhere = { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' }
    expect((await sandbox.call('GET', '/console/accounts', { headers: elsewhere })).status).toBe(401)
    expect((await rpc('eth_blockNumber', elsewhere)).status).toBe(401)
    const session = await sandbox.call('GET', '/console/session', { headers: OWN_PAGE })
    expect(session.body).toMatchObject({ address: null, is_sandbox: true })
  })

  it('reach the node through the service, with what wallets ask of it', async () => {
    expect(await rpc('eth_chainId')).toMatchObject({
      status: 200,
      body: { jsonrpc: '2.0', id: 7, result: numberToHex(sandbox.chainId) },
    })
    const noCode = await sandbox.call('POST', '/console/rpc', {
      headers: OWN_PAGE,
      body: { jsonrpc: '2.0', id: 8, method: 'eth_sendRawTransaction', params: ['0x00'] },
    })
    expect(noCode.body.error, 'what the node says of a bad transaction').toBeDefined()
  })

  it.each(['evm_increaseTime', 'hardhat_setBalance', 'eth_accounts', 'eth_sendTransaction'])(
    'cannot call %s of the node',
    async (method) => {
      const before = sandbox.nodes.answered.length
      const answer = await rpc(method)
      expect(answer).toMatchObject({ status: 200, body: { id: 7, error: { code: -32_601 } } })
      expect(sandbox.nodes.answered.slice(before).join()).not.toContain(method)
    },
  )
})

describe('a market that is no sandbox', () => {
  it('has no such routes', async () => {
    const market = await startTestMarket({ overrides: NO_WORK })
    try {
      const session = await market.call('GET', '/console/session', { headers: OWN_PAGE })
      expect(session.body.is_sandbox).toBe(false)
      for (const [method, path] of [
        ['GET', '/console/accounts'],
        ['POST', '/console/rpc'],
      ] as const) {
        expect(
          (await market.call(method, path, { headers: OWN_PAGE, body: method === 'POST' ? {} : undefined }))
            .status,
        ).toBe(404)
      }
    } finally {
      await market.close()
    }
  })
})
