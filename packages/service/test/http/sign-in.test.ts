// Sign-In with Ethereum, with messages written by viem.
import { developmentAccount } from '@referrer/contracts/local'
import {
  type Address,
  type Client,
  concat,
  encodeAbiParameters,
  getCreate2Address,
  type Hex,
  keccak256,
  type LocalAccount,
  padHex,
  zeroHash,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { verifySiweMessage } from 'viem/siwe'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../src/app/service.ts'
import { type Caller, callerOf, must, signInMessage } from './caller.ts'
import { ACCEPTING, ECHO, ownedBy, REVERTING } from './contract-wallets.ts'
import { startTestMarket, type TestMarket } from './market.ts'

const PATH = '/v1/auth/session'
const MINUTE = 60_000
const OTHER_CHAIN = 31_338

let m: TestMarket
let second: Service
/** The same market through each of its replicas. */
let replicas: Caller[]
let owner: LocalAccount

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, OTHER_CHAIN] })
  second = await startService(m.service.context.config)
  replicas = [m.call, callerOf(second.url)]
  owner = m.market.accounts.reviewer
})
afterAll(async () => {
  await second.stop()
  await m.close()
})
afterEach(() => {
  m.clock.aheadMs = 0
})

const somebody = () => privateKeyToAccount(generatePrivateKey())
const refused = (detail: string) => ({ status: 401, body: { error: 'unauthorized', detail } })
const BAD = refused('bad signature')

const send = (message: string, signature: Hex | string, call = m.call) =>
  call('POST', PATH, { body: { message, signature } })
const signed = async (as: LocalAccount, message: string, call?: Caller) =>
  send(message, await as.signMessage({ message }), call)
type Otherwise = Parameters<typeof signInMessage>[2]
const signIn = async (otherwise?: Otherwise, as = owner) =>
  signed(as, await signInMessage(m.call, as.address, otherwise))

/** The wallet of a session: a limit that is set in the session belongs to it. */
async function signerOf(token: string): Promise<Hex> {
  const body = { chain_id: m.chainId, per_tx_cap_usdc: 1 }
  await m.sql`DELETE FROM market.spending_limits`
  await must(m.call('POST', '/v1/spending-limits', { token, body }))
  const [row] = await m.sql<{ owner: Hex }[]>`
    SELECT '0x' || encode(owner, 'hex') AS owner FROM market.spending_limits`
  return row?.owner ?? '0x'
}

describe('a sign-in', () => {
  it('opens a session of the account that the message names [AUTH-26 otherwise]', async () => {
    const { status, body } = await signIn({
      statement: 'Sign in to the market.',
      resources: ['https://a.test/'],
    })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['token', 'expires_at'])
    const lasts = new Date(body.expires_at).getTime() - Date.now()
    expect(lasts).toBeGreaterThan(59 * MINUTE)
    expect(lasts).toBeLessThanOrEqual(60 * MINUTE)
    expect(await signerOf(body.token)).toBe(owner.address.toLowerCase())
  })

  it("gives an admin a quarter of an hour, whose session opens what is the admins'", async () => {
    const { body } = await signIn({}, m.market.accounts.admin)
    expect(new Date(body.expires_at).getTime() - Date.now()).toBeLessThanOrEqual(15 * MINUTE)
    expect((await m.call('GET', '/admin/proofs', { token: body.token })).status).toBe(200)
  })

  it('gives a new nonce each time, which no cache keeps and which takes no place', async () => {
    const kept = async () => (await m.sql`SELECT FROM market.seen_requests`).length
    const before = await kept()
    const answers = await Promise.all(Array.from({ length: 20 }, () => m.call('GET', '/v1/auth/nonce')))
    expect(new Set(answers.map(({ body }) => body.nonce)).size).toBe(20)
    for (const { body, headers } of answers) {
      expect(Object.keys(body)).toEqual(['nonce'])
      expect(body.nonce).toMatch(/^[a-zA-Z0-9]{8,}$/)
      expect(headers.get('cache-control')).toBe('no-store')
    }
    expect(await kept()).toBe(before)
  })

  it('counts once, and a message that was used opens nothing more', async () => {
    const message = await signInMessage(m.call, owner.address)
    expect((await signed(owner, message)).status).toBe(200)
    for (const call of replicas) {
      expect(await signed(owner, message, call)).toMatchObject(
        refused('the nonce was used before: get another from /v1/auth/nonce'),
      )
    }
  })

  it('opens one session when fifty copies reach both replicas at once', async () => {
    const account = somebody()
    const message = await signInMessage(m.call, account.address)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => signed(account, message, replicas[at % 2])),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49)
    const rows = await m.sql`
      SELECT FROM market.sessions WHERE address = decode(${account.address.slice(2)}, 'hex')`
    expect(rows).toHaveLength(1)
  })

  it('takes a nonce that the other replica gave', async () => {
    const [, other] = replicas as [Caller, Caller]
    expect((await signed(owner, await signInMessage(other, owner.address))).status).toBe(200)
  })

  it.each<[string, Otherwise, string]>([
    [
      'another domain',
      { domain: 'evil.test' },
      'the message is for another domain: it must name market.test',
    ],
    [
      'our domain at another port',
      { domain: 'market.test:8443' },
      'the message is for another domain: it must name market.test',
    ],
    ['another scheme', { scheme: 'http' }, 'the scheme must be https://'],
    ['a URI elsewhere', { uri: 'https://evil.test/market.test' }, 'URI must be one of https://market.test'],
    ['a URI of another scheme', { uri: 'http://market.test' }, 'URI must be one of https://market.test'],
    ['a chain that is not served', { chainId: 1 }, 'Chain ID must be one of 31337, 31338'],
    [
      'a nonce of its own',
      { nonce: 'abcdefgh12345678' },
      'the nonce was not issued by this service: get one from /v1/auth/nonce',
    ],
    ['an end that is past', { expirationTime: new Date(Date.now() - 1_000) }, 'the message has expired'],
    [
      'a beginning to come',
      { notBefore: new Date(Date.now() + 10 * MINUTE) },
      'the message is not valid yet',
    ],
    ['an issue to come', { issuedAt: new Date(Date.now() + 10 * MINUTE) }, 'Issued At is in the future'],
    ['an issue long ago', { issuedAt: new Date(Date.now() - 10 * MINUTE) }, 'Issued At is too long ago'],
  ])('is refused with %s', async (_, otherwise, detail) => {
    expect(await signIn(otherwise)).toMatchObject(refused(detail))
  })

  it('is taken with all that a message may have, as long as it holds now', async () => {
    const otherwise = {
      scheme: 'https',
      uri: 'https://market.test/console?page=1',
      expirationTime: new Date(Date.now() + MINUTE),
      notBefore: new Date(Date.now() - MINUTE),
      requestId: 'r-1',
    }
    expect((await signIn(otherwise)).status).toBe(200)
  })

  it('is refused once its nonce is five minutes old, and with a nonce that was altered', async () => {
    await m.atOnce(async () => {
      const { nonce } = await must(m.call('GET', '/v1/auth/nonce'))
      m.clock.aheadMs = 5 * MINUTE - 2_000
      expect((await signIn({ nonce })).status).toBe(200)
    })
    const { nonce: late } = await must(m.call('GET', '/v1/auth/nonce'))
    m.clock.aheadMs += 5 * MINUTE
    expect(await signIn({ nonce: late })).toMatchObject(
      refused('the nonce has expired: get another from /v1/auth/nonce'),
    )
    const end = Math.floor((Date.now() + m.clock.aheadMs) / 1_000) + 3_600
    const prolonged = late.slice(0, 24) + end.toString(16).padStart(12, '0') + late.slice(36)
    expect(await signIn({ nonce: prolonged })).toMatchObject(
      refused('the nonce was not issued by this service: get one from /v1/auth/nonce'),
    )
  })

  it('is refused when somebody else signed it, or something else was signed', async () => {
    const message = await signInMessage(m.call, owner.address)
    expect(await signed(somebody(), message)).toMatchObject(BAD)
    const other = await owner.signMessage({ message: `${message} ` })
    for (const signature of [other, `0x${'00'.repeat(65)}`, '0x', '0x1', 'signed', '']) {
      expect(await send(message, signature)).toMatchObject(BAD)
    }
    // None of the refused attempts has used up the nonce.
    expect((await signed(owner, message)).status).toBe(200)
  })

  it('is refused when the text is not exactly of the form, though a lenient reader would find all parts', async () => {
    const message = await signInMessage(m.call, owner.address)
    for (const odd of [
      `Dear user, ${message}`,
      `${message}\nP.S. And all my agents.`,
      message.replace('\n\nURI', '\nsend all my money\nyours\n\nURI'),
      message.replace('Version: 1', 'Version: 2'),
      message.replaceAll('\n', '\r\n'),
      message.replace('Issued At: 2', 'Issued At: Mon 2'),
      'sign me in',
      '',
      'x'.repeat(10_000),
    ]) {
      expect((await signed(owner, odd)).status).toBe(401)
    }
  })

  it.each(['{}', '[]', 'x', '{"message":1,"signature":"0x"}', '{"message":"x"}'])(
    'is refused with the body %s',
    async (body) => {
      expect(await m.call('POST', PATH, { body })).toMatchObject({
        status: 400,
        body: { error: 'invalid request' },
      })
    },
  )

  it('says how to sign in when nothing is sent', async () => {
    const { status, body } = await m.call('POST', PATH)
    expect([status, body.error]).toEqual([401, 'unauthorized'])
    expect(body.detail).toContain('EIP-4361')
  })
})

describe('a wallet that is a contract', () => {
  let wallets = 5_000

  async function walletWith(bytecode: Hex): Promise<Address> {
    wallets += 1
    const { address } = developmentAccount(wallets)
    await m.market.client.setCode({ address, bytecode })
    return address
  }

  it('signs in with what it agrees to (ERC-1271)', async () => {
    const key = somebody()
    const wallet = await walletWith(ownedBy(key.address))
    const message = await signInMessage(m.call, wallet)
    expect(await signed(somebody(), message)).toMatchObject(BAD)
    const { status, body } = await signed(key, message)
    expect(status).toBe(200)
    expect(await signerOf(body.token)).toBe(wallet.toLowerCase())
  })

  it('may have a signature of any length', async () => {
    const message = await signInMessage(m.call, await walletWith(ACCEPTING))
    expect((await send(message, `0x${'ab'.repeat(300)}`)).status).toBe(200)
  })

  it.each<[string, Hex]>([
    ['refuses', REVERTING],
    // The invalid opcode, which burns all gas.
    ['burns all gas', '0xfe'],
    ['echoes', ECHO],
  ])('does not sign in when it %s', async (_, bytecode) => {
    const message = await signInMessage(m.call, await walletWith(bytecode))
    expect(await signed(somebody(), message)).toMatchObject(BAD)
  })

  it('signs in before it is deployed (ERC-6492), as viem understands it', async () => {
    const key = somebody()
    // A factory that deploys its call data by CREATE2.
    const factory = await walletWith('0x365f5f375f365f5ff55f5260205ff3')
    const runtime = ownedBy(key.address)
    const size = padHex(`0x${((runtime.length - 2) / 2).toString(16)}`, { size: 2 })
    const init = concat(['0x61', size, '0x80600a3d393df3', runtime])
    const wallet = getCreate2Address({ from: factory, salt: zeroHash, bytecodeHash: keccak256(init) })
    const message = await signInMessage(m.call, wallet)
    const wrapped = (inner: Hex) =>
      concat([
        encodeAbiParameters(
          [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
          [factory, init, inner],
        ),
        `0x${'6492'.repeat(16)}`,
      ])
    const signature = wrapped(await key.signMessage({ message }))
    const bySomebody = wrapped(await somebody().signMessage({ message }))
    const client = m.market.client as unknown as Client
    expect(await verifySiweMessage(client, { message, signature })).toBe(true)
    expect(await send(message, bySomebody)).toMatchObject(BAD)
    const { status, body } = await send(message, signature)
    expect(status).toBe(200)
    expect(await signerOf(body.token)).toBe(wallet.toLowerCase())
    expect(await m.market.client.getCode({ address: wallet })).toBeUndefined()
  })

  it('stands for its address on the chain that it signed in for, and on no other, where that may be somebody else', async () => {
    const key = somebody()
    const wallet = await walletWith(ownedBy(key.address))
    const chains = m.chains.map(({ chain }) => chain.chain.id)
    const { body } = await signed(key, await signInMessage(m.call, wallet))
    const { token } = body
    const limit = (chain_id: number) =>
      m.call('POST', '/v1/spending-limits', { token, body: { chain_id, per_tx_cap_usdc: 1 } })
    const answers = []
    for (const chain of chains) {
      answers.push([
        (await limit(chain)).status,
        (await m.call('GET', `/v1/spending-limits/budget?chain_id=${chain}`, { token })).status,
        (await m.call('GET', `/v1/review-rank/0?chain_id=${chain}`, { token })).status,
      ])
    }
    expect(answers).toEqual([
      [200, 200, 200],
      [401, 401, 401],
    ])
    expect(await limit(OTHER_CHAIN)).toMatchObject(
      refused(
        'the session belongs to a contract wallet of chain 31337: sign in on the chain that you request',
      ),
    )
    expect((await m.call('DELETE', PATH, { token })).status).toBe(204)
    // An account with a key is the same on every chain.
    const { body: ofKey } = await signed(key, await signInMessage(m.call, key.address))
    const elsewhere = { chain_id: OTHER_CHAIN, per_tx_cap_usdc: 1 }
    expect(
      (await m.call('POST', '/v1/spending-limits', { token: ofKey.token, body: elsewhere })).status,
    ).toBe(200)
  })

  it('is asked only so often for one client, whatever that one sends, and keys need no node', async () => {
    const message = await signInMessage(m.call, await walletWith(REVERTING))
    const answers = await m.atOnce(() =>
      Promise.all(Array.from({ length: 60 }, () => signed(somebody(), message))),
    )
    const late = answers.filter(({ status }) => status === 429)
    expect(late.length).toBeGreaterThan(0)
    expect(answers.length - late.length).toBeGreaterThan(0)
    for (const { body, headers } of late) {
      expect(body).toEqual({ error: 'rate limited', detail: expect.stringContaining('checked on the chain') })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await signIn()).status).toBe(200)
    m.clock.aheadMs = MINUTE
    expect(await signed(somebody(), message)).toMatchObject(BAD)
  })

  it('is told so when the chain cannot be asked, and can try the same message again', async () => {
    const key = somebody()
    const message = await signInMessage(m.call, await walletWith(ownedBy(key.address)))
    m.nodes.isDown = true
    try {
      expect(await signed(key, message)).toMatchObject({ status: 500, body: { error: 'internal error' } })
    } finally {
      m.nodes.isDown = false
    }
    expect((await signed(key, message)).status).toBe(200)
  })
})
