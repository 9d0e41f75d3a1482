import { numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.ts'
import { createEndpoint, type RpcEndpoint } from './endpoint.ts'
import { RpcError } from './error.ts'

const CHAIN = 31_338
let node: ScriptedNode
let endpoint: RpcEndpoint

beforeEach(async () => {
  node = await startScriptedNode(({ method, params }) => ({
    result: method === 'eth_chainId' ? numberToHex(CHAIN) : (params?.[0] ?? null),
  }))
  endpoint = createEndpoint({ url: node.url, chainId: CHAIN, timeoutMs: 10_000, fetch })
})
afterEach(() => node.close())

const echo = (value: unknown) => ({ method: 'echo', params: [value] })
const failure = (call: Promise<unknown>): Promise<RpcError> =>
  call.then(
    () => Promise.reject(new Error('the call went through')),
    (error) => {
      if (!(error instanceof RpcError)) throw error
      return error
    },
  )
/** Lets the question for the chain through and spoils everything after it. */
const spoil = (respond: ScriptedNode['respond']) => {
  node.respond = (calls) => (calls[0]?.method === 'eth_chainId' ? undefined : respond(calls))
}

describe('the chain of an endpoint', () => {
  it('is asked for once, before the first call', async () => {
    await endpoint.request('echo', [1])
    await endpoint.batch([echo(2), echo(3)])
    expect(node.requests.map((calls) => calls.map(({ method }) => method))).toEqual([
      ['eth_chainId'],
      ['echo'],
      ['echo', 'echo'],
    ])
  })

  it('is refused when it is another than configured, with what to do about it', async () => {
    node.answer = () => ({ result: '0x1' })
    const error = await failure(endpoint.request('echo', [1]))
    expect(error.kind).toBe('wrong-chain')
    expect(error.message).toBe(
      `${new URL(node.url).host} serves chain 1, not ${CHAIN}: correct its URL in the chain's rpcUrls`,
    )
    expect(node.requests).toHaveLength(1)
  })

  it('is asked for again after a failure', async () => {
    node.respond = () => ({ status: 503, body: 'starting' })
    expect((await failure(endpoint.request('echo', [1]))).kind).toBe('transport')
    node.respond = () => undefined
    expect(await endpoint.request('echo', [1])).toBe(1)
  })

  it('is found out by each of several callers, so that one who gives up takes nobody along', async () => {
    node.respond = ([call]) =>
      call?.method === 'eth_chainId' && node.requests.length === 1 ? 'silence' : undefined
    const leaving = new AbortController()
    const first = endpoint.request('echo', [1], { signal: leaving.signal })
    await eventually(() => node.requests.length).toBe(1)
    const second = endpoint.request('echo', [2])
    leaving.abort('going home')
    await expect(first).rejects.toBe('going home')
    expect(await second).toBe(2)
  })
})

describe('a batch', () => {
  it('goes in parts of a hundred and comes back whole and in order', async () => {
    const values = Array.from({ length: 250 }, (_, at) => at)
    expect(await endpoint.batch(values.map(echo))).toEqual(values)
    expect(node.requests.slice(1).map(({ length }) => length)).toEqual([100, 100, 50])
  })

  it('may be answered in any order', async () => {
    spoil((calls) => ({
      body: JSON.stringify(calls.map(({ id, params }) => ({ id, result: params?.[0] })).reverse()),
    }))
    expect(await endpoint.batch(['a', 'b', 'c'].map(echo))).toEqual(['a', 'b', 'c'])
  })

  it('fails as one when one of its calls fails', async () => {
    node.answer = ({ method, params }) => {
      if (method === 'eth_chainId') return { result: numberToHex(CHAIN) }
      return params?.[0] === 'b' ? { error: { code: -32000, message: 'no b' } } : { result: 1 }
    }
    expect(await failure(endpoint.batch(['a', 'b'].map(echo)))).toMatchObject({
      kind: 'refused',
      code: -32000,
    })
  })

  it('may be refused as a whole, with one answer that names no call', async () => {
    spoil(() => ({ body: JSON.stringify({ id: null, error: { code: -32005, message: 'too many' } }) }))
    expect(await failure(endpoint.batch(['a', 'b'].map(echo)))).toMatchObject({ kind: 'rate-limited' })
  })

  it('is not believed when an answer is missing', async () => {
    spoil(() => ({ body: JSON.stringify([{ id: 0, result: 'a' }]) }))
    const error = await failure(endpoint.batch(['a', 'b'].map(echo)))
    expect(error.kind).toBe('transport')
    expect(error.message).toContain('left echo unanswered')
  })
})

describe('an answer', () => {
  it('may be null', async () => {
    expect(await endpoint.request('echo', [null])).toBeNull()
  })

  it.each([
    ['a page of HTML', '<html>bad gateway</html>'],
    ['nothing', ''],
    ['JSON that breaks off', '{"id":0,"resu'],
    ['null', 'null'],
    ['a list of null', '[null]'],
    ['a number', '5'],
    ['an answer without result', '{"id":0}'],
  ])('that is %s is no answer', async (_what, body) => {
    spoil(() => ({ body }))
    expect((await failure(endpoint.request('echo', [1]))).kind).toBe('transport')
  })

  it('with an error is read whatever the HTTP status is', async () => {
    spoil(() => ({
      status: 500,
      body: JSON.stringify({ id: 0, error: { code: 3, message: 'execution reverted' } }),
    }))
    expect((await failure(endpoint.request('echo', [1]))).kind).toBe('reverted')
  })

  it('that limits the rate tells how long to wait when the node does', async () => {
    spoil(() => ({ status: 429, headers: { 'retry-after': '7' }, body: '' }))
    expect(await failure(endpoint.request('echo', [1]))).toMatchObject({
      kind: 'rate-limited',
      retryAfterMs: 7_000,
    })
    spoil(() => ({ status: 429, headers: { 'retry-after': 'Fri, 31 Dec 2032 23:59:59 GMT' }, body: '' }))
    expect((await failure(endpoint.request('echo', [1]))).retryAfterMs).toBeUndefined()
  })

  it('that does not come is given up on in time', async () => {
    // The first request asks for the chain as well.
    await endpoint.request('echo', [1])
    spoil(() => 'silence')
    const error = await failure(endpoint.request('echo', [1], { timeoutMs: 50 }))
    expect(error).toMatchObject({ kind: 'timeout' })
    expect(error.message).toContain('did not answer echo within 50 ms')
  })

  it('is not waited for when the caller gives up, and the error is the caller’s own', async () => {
    spoil(() => 'silence')
    const leaving = new AbortController()
    const call = endpoint.request('echo', [1], { signal: leaving.signal })
    await eventually(() => node.requests.length).toBe(2)
    leaving.abort('going home')
    await expect(call).rejects.toBe('going home')
  })
})

describe('an endpoint', () => {
  it('that is not there says so', async () => {
    await node.close()
    const error = await failure(endpoint.request('echo', [1]))
    expect(error.kind).toBe('transport')
    expect(error.message).toMatch(/cannot be reached for eth_chainId: .*ECONNREFUSED/)
  })

  it('sends the name and password of its URL as a header', async () => {
    const seen: (string | null)[] = []
    const spy: typeof fetch = (input, init) => {
      seen.push(new Headers(init?.headers).get('authorization'))
      return fetch(input, init)
    }
    const { host } = new URL(node.url)
    const keyed = createEndpoint({
      url: `http://agent:p%40ss@${host}/`,
      chainId: CHAIN,
      timeoutMs: 10_000,
      fetch: spy,
    })
    expect(await keyed.request('echo', [1])).toBe(1)
    expect(seen).toEqual(Array(2).fill(`Basic ${Buffer.from('agent:p@ss').toString('base64')}`))
  })

  it('never shows the key that its URL holds', async () => {
    const secret = 'hunter2'
    const { host } = new URL(node.url)
    for (const url of [
      `http://${host}/v2/${secret}`,
      `http://${host}/?key=${secret}`,
      `http://agent:${secret}@${host}/`,
    ]) {
      const keyed = createEndpoint({ url, chainId: CHAIN, timeoutMs: 10_000, fetch })
      expect(keyed.name).toBe(host)
      node.respond = () => undefined
      await keyed.request('echo', [1])
      for (const spoiled of [
        () => 'silence' as const,
        () => ({ body: 'garbage' }),
        () => ({ status: 429, body: '' }),
        () => ({ body: JSON.stringify({ id: 0, error: { code: -32000, message: 'no' } }) }),
      ]) {
        node.respond = spoiled
        const error = await failure(keyed.request('echo', [1], { timeoutMs: 200 }))
        expect(error.message).not.toContain(secret)
      }
    }
  })
})
