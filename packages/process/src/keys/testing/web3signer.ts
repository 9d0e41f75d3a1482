// What Web3Signer 23.11.0 answers as `web3signer eth1`: paths, bodies and statuses from its OpenAPI document, keys in memory.
import type { ServerOptions } from 'node:https'
import { type Hex, isHex, keccak256, serializeSignature } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { type Answered, type StandIn, serve } from './server.ts'

export interface TestWeb3Signer extends StandIn {
  /** The data of all signatures that it made. */
  signed: Hex[]
  /** Lets it misbehave: signs with another key, is broken, or never answers. */
  mood: 'honest' | 'lying' | 'broken' | 'silent'
  load(key: Hex): void
  unload(key: Hex): void
}

const SIGN = /^\/api\/v1\/eth1\/sign\/(0x[0-9a-f]{128})$/i
/** The key that it signs with when it lies. */
const WRONG: Hex = `0x${'77'.repeat(32)}`

const identifierOf = (key: Hex) => `0x${privateKeyToAccount(key).publicKey.slice(4)}`.toLowerCase()

export async function startWeb3Signer(
  keys: readonly Hex[],
  { token, tls }: { token?: string; tls?: ServerOptions } = {},
): Promise<TestWeb3Signer> {
  const held = new Map(keys.map((key) => [identifierOf(key), key]))
  const signed: Hex[] = []
  const state = { mood: 'honest' as TestWeb3Signer['mood'] }

  async function signFor(identifier: string, body: string): Promise<Answered> {
    const data = dataIn(body)
    if (data === undefined) return { status: 400, body: 'Bad Request' }
    const key = held.get(identifier.toLowerCase())
    if (!key) return { status: 404, body: 'Resource not found' }
    signed.push(data)
    const privateKey = state.mood === 'lying' ? WRONG : key
    return { status: 200, body: serializeSignature(await sign({ hash: keccak256(data), privateKey })) }
  }

  const standIn = await serve(({ method, path, headers, body }) => {
    if (state.mood === 'silent') return undefined
    if (state.mood === 'broken') return { status: 500, body: 'Internal Server Error' }
    if (token !== undefined && headers.authorization !== `Bearer ${token}`) return { status: 401 }
    if (method === 'GET' && path === '/upcheck') return { status: 200, body: 'OK' }
    if (method === 'GET' && path === '/healthcheck') {
      const health = { status: 'UP', checks: [], outcome: 'UP' }
      return { status: 200, type: 'application/json', body: JSON.stringify(health) }
    }
    if (method === 'GET' && path === '/api/v1/eth1/publicKeys') {
      return { status: 200, type: 'application/json', body: JSON.stringify([...held.keys()]) }
    }
    const identifier = method === 'POST' ? SIGN.exec(path)?.[1] : undefined
    return identifier ? signFor(identifier, body) : { status: 404, body: 'Resource not found' }
  }, tls)
  return Object.assign(state, standIn, {
    signed,
    load: (key: Hex) => void held.set(identifierOf(key), key),
    unload: (key: Hex) => void held.delete(identifierOf(key)),
  })
}

function dataIn(body: string): Hex | undefined {
  try {
    const { data } = JSON.parse(body)
    return isHex(data) ? data : undefined
  } catch {
    return undefined
  }
}
