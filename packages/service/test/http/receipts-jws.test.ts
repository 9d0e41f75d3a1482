import { createPrivateKey } from 'node:crypto'
import { privateKeyOf } from '@referrer/contracts/local'
import type { Hex, LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Algorithm,
  APPROVED,
  agentOf,
  BY_NOBODY,
  CURVES,
  didOf,
  FORGED,
  jws,
  looked,
  pay,
  pendingWith,
  prove,
  publishDocument,
  type ReceiptWorld,
  startReceiptWorld,
} from './receipts.ts'

let world: ReceiptWorld
let agentId: bigint

beforeAll(async () => {
  world = await startReceiptWorld()
  agentId = await agentOf(world)
})
afterAll(() => world.close())

const submitted = async (proofData: object) => looked(world, await prove(world, agentId, proofData))

describe('a receipt as a JWS', () => {
  it.each(Object.keys(CURVES) as Algorithm[])('approves by a key of the host, %s', async (algorithm) => {
    const { publicKey, privateKey } = CURVES[algorithm]()
    const did = didOf(world)
    const id = `${did}#key-1`
    const method = {
      id,
      type: 'JsonWebKey',
      controller: did,
      publicKeyJwk: publicKey.export({ format: 'jwk' }),
    }
    publishDocument(world, { id: did, verificationMethod: [method], assertionMethod: [id] })
    const receipt = async (kid: string, by = privateKey) => ({
      x402Receipt: await jws(world, await pay(world), { kid, algorithm, privateKey: by }),
    })
    expect(await submitted(await receipt(id))).toMatchObject(APPROVED)
    expect(await submitted(await receipt(did))).toMatchObject(APPROVED)
    expect(await submitted(await receipt(id, CURVES[algorithm]().privateKey))).toMatchObject(
      pendingWith(FORGED),
    )
    expect(await submitted(await receipt(`${did}#key-2`))).toMatchObject(
      pendingWith('the DID document of the host does not list the key of the receipt'),
    )
    const elsewhere = await receipt('did:web:elsewhere.test#key-1')
    expect(await submitted(elsewhere)).toMatchObject(
      pendingWith("the receipt is signed by another host than that of the product's endpoint"),
    )
  })

  it('approves by a did:key only when the host lists that key', async () => {
    const { publicKey, privateKey } = CURVES.EdDSA()
    const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url')
    const multibase = `z${base58(Buffer.concat([Buffer.from('ed01', 'hex'), raw]))}`
    const kid = `did:key:${multibase}#${multibase}`
    const signing = { kid, algorithm: 'EdDSA' as const, privateKey }
    publishDocument(world, { id: didOf(world), verificationMethod: [] })
    const x402Receipt = await jws(world, await pay(world), signing)
    expect(await submitted({ x402Receipt })).toMatchObject(
      pendingWith("the key of the receipt is not listed in the DID document of the endpoint's host"),
    )
    publishDocument(world, {
      id: didOf(world),
      verificationMethod: [{ id: '#a', type: 'Multikey', publicKeyMultibase: multibase }],
    })
    expect(await submitted({ x402Receipt })).toMatchObject(APPROVED)
  })

  it("approves by an account as did:pkh, when it is the merchant's", async () => {
    const { m } = world
    const receipt = async (account: LocalAccount, key: Hex) => {
      const { x, y } = jwkOf(account.publicKey as Hex)
      const d = Buffer.from(key.slice(2), 'hex').toString('base64url')
      const privateKey = createPrivateKey({ key: { kty: 'EC', crv: 'secp256k1', x, y, d }, format: 'jwk' })
      const kid = `did:pkh:eip155:${m.chainId}:${account.address}`
      return { x402Receipt: await jws(world, await pay(world), { kid, algorithm: 'ES256K', privateKey }) }
    }
    const { stranger, merchant: shop } = m.market.accounts
    expect(await submitted(await receipt(shop, privateKeyOf(shop)))).toMatchObject(APPROVED)
    expect(await submitted(await receipt(stranger, privateKeyOf(stranger)))).toMatchObject(
      pendingWith(BY_NOBODY),
    )
    expect(await submitted(await receipt(shop, privateKeyOf(stranger)))).toMatchObject(pendingWith(FORGED))
  })
})

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
function base58(bytes: Buffer): string {
  let [number, text] = [BigInt(`0x${bytes.toString('hex')}`), '']
  for (; number > 0n; number /= 58n) text = ALPHABET[Number(number % 58n)] + text
  return text
}

const jwkOf = (publicKey: Hex) => {
  const part = (from: number) => Buffer.from(publicKey.slice(from, from + 64), 'hex').toString('base64url')
  return { x: part(4), y: part(68) }
}
