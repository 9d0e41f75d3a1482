import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { freeOffset } from '../test/sandbox.ts'
import { HOST, readPorts, requireFree } from './ports.ts'

describe('the ports of the sandbox', () => {
  it('are the well-known ones, all shifted by the same', () => {
    expect(readPorts({})).toEqual({
      chain: 8545,
      service: 8080,
      facilitator: 8081,
      shop: 8083,
      chat: 8084,
      faucet: 8085,
    })
    expect(readPorts({ PORT_OFFSET: '100' })).toEqual({
      chain: 8645,
      service: 8180,
      facilitator: 8181,
      shop: 8183,
      chat: 8184,
      faucet: 8185,
    })
  })

  it('are refused in one line when browsers and fetch would not call one of them', async () => {
    await expect(fetch('http://127.0.0.1:10080')).rejects.toMatchObject({ cause: { message: 'bad port' } })
    await expect(requireFree(readPorts({ PORT_OFFSET: '2000' }))).rejects.toThrow(
      'port 10080 (service) is one that browsers and fetch refuse to call: shift all ports with PORT_OFFSET=2100 npm start',
    )
  })

  it('that are suggested may all be called', async () => {
    const taker = createServer().listen(readPorts({ PORT_OFFSET: '1900' }).shop, HOST)
    await once(taker, 'listening')
    await expect(requireFree(readPorts({ PORT_OFFSET: '1900' }))).rejects.toThrow(
      'PORT_OFFSET=2100 npm start',
    )
    taker.close()
  })

  it.each(['chain', 'service', 'facilitator', 'shop', 'chat', 'faucet'] as const)(
    'are refused in one line when that of the %s is taken',
    async (name) => {
      const offset = await freeOffset()
      const ports = readPorts({ PORT_OFFSET: offset })
      const taker = createServer().listen(ports[name], HOST)
      await once(taker, 'listening')
      await expect(requireFree(ports)).rejects.toThrow(
        `port ${ports[name]} (${name}) is in use: stop what uses it, or shift all ports with PORT_OFFSET=${Number(offset) + 100} npm start`,
      )
      taker.close()
    },
  )
})
