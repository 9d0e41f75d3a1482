import { type Hex, size } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, test } from 'vitest'
import { NOW, type PaperContext, paperContext } from '../../test/context.ts'
import { type PayloadOptions, payloadOf } from '../../test/payloads.ts'
import { readPayment } from './read.ts'
import { Refused } from './refused.ts'

const buyer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const SALT: Hex = `0x${'66'.repeat(32)}`
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let paper: PaperContext
beforeEach(async () => {
  paper = await paperContext()
})

/** What is read of a payment whose signature was replaced. */
async function readWith(signature: Hex | undefined, options: PayloadOptions = {}) {
  const body = await payloadOf(paper.till, buyer, NOW, options)
  if (signature) body.paymentPayload.payload.signature = signature
  const { authorization } = await readPayment(paper.context, body)
  return { kind: authorization.kind, signature: authorization.signature }
}

const signatureOf = async (options: PayloadOptions) =>
  (await payloadOf(paper.till, buyer, NOW, options)).paymentPayload.payload.signature

async function refusalOf(work: Promise<unknown>): Promise<Refused> {
  const error = await work.then(
    () => new Error('it was accepted'),
    (error: unknown) => error,
  )
  if (!(error instanceof Refused)) throw error
  return error
}

describe('the signature of a plain wallet', () => {
  test('tells by itself which of the two messages was signed, whatever the offer asks for', async () => {
    const preferred = ['ReceiveWithAuthorization', 'TransferWithAuthorization', undefined] as const
    for (const authorizationType of preferred) {
      const extra = { ...paper.till.token, ...(authorizationType && { authorizationType }) }
      const transfer = await readWith(undefined, { requirements: { extra } })
      expect(transfer.kind).toBe(1)
      const receive = await readWith(undefined, { requirements: { extra }, salt: SALT })
      expect(receive.kind).toBe(0)
    }
    expect(paper.node.asked).toEqual([])
  })

  test('is handed on with the v that the token takes', async () => {
    const nonce: Hex = `0x${'77'.repeat(32)}`
    const signature = await signatureOf({ nonce })
    const other = signature.endsWith('1b') ? '00' : '01'
    const read = await readWith(`${signature.slice(0, -2) as Hex}${other}`, { nonce })
    expect(read).toEqual({ kind: 1, signature })
  })

  test('of somebody else is refused', async () => {
    const { reason, message } = await refusalOf(readWith(undefined, { signer: stranger }))
    expect(reason).toBe('invalid_payment')
    expect(message).toMatch(/^signature does not match from: sign .* with the key of 0x/)
  })

  test('is refused in its second form, which the token refuses too', async () => {
    const nonce: Hex = `0x${'77'.repeat(32)}`
    const signature = await signatureOf({ nonce })
    const s = (CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    const malleated: Hex = `${signature.slice(0, 66) as Hex}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
    expect((await refusalOf(readWith(malleated, { nonce }))).message).toMatch(
      /^signature does not match from/,
    )
  })

  test.each<Hex>(['0x00', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`, `0x${'11'.repeat(64)}`])(
    'is not %s',
    async (signature) => {
      expect((await refusalOf(readWith(signature))).message).toMatch(/^signature does not match from/)
    },
  )
})

describe('the signature of a contract wallet', () => {
  const LONG: Hex = `0x${'ab'.repeat(200)}`

  test('is left to the chain, as it is', async () => {
    paper.contracts.add(buyer.address)
    expect(await readWith(LONG)).toEqual({ kind: 1, signature: LONG })
  })

  test('counts for a payment that only the router can redeem where its nonce commits, whatever the offer says', async () => {
    paper.contracts.add(buyer.address)
    expect((await readWith(LONG, { salt: SALT })).kind).toBe(0)
    const plain = { requirements: { extra: paper.till.token } }
    expect((await readWith(LONG, { ...plain, salt: SALT })).kind).toBe(0)
  })

  test('may have 65 bytes that recover to somebody else', async () => {
    paper.contracts.add(buyer.address)
    expect((await readWith(undefined, { signer: stranger })).kind).toBe(1)
  })

  test('costs one question, however often that wallet pays by bare transfer', async () => {
    paper.contracts.add(buyer.address)
    await Promise.all([readWith(LONG), readWith(LONG), readWith(LONG)])
    await readWith(LONG)
    expect(paper.node.asked).toEqual(['eth_getCode'])
  })

  test('counts soon after the wallet was deployed', async () => {
    await refusalOf(readWith(LONG))
    paper.contracts.add(buyer.address)
    paper.clock.now += 11_000
    expect((await readWith(LONG)).signature).toBe(LONG)
  })

  test('has at most 4096 bytes: the relayer pays for each', async () => {
    paper.contracts.add(buyer.address)
    const longest: Hex = `0x${'ab'.repeat(4_096)}`
    expect(size((await readWith(longest)).signature)).toBe(4_096)
    const { message } = await refusalOf(readWith(`${longest}ab`))
    expect(message).toBe('the signature has 4097 bytes: at most 4096 are settled')
  })

  test('can be sent again when no node tells whether it is one', async () => {
    paper.node.isDown = true
    const refused = await refusalOf(readWith(LONG))
    expect(refused).toMatchObject({ reason: 'settle_failed', retryable: true })
    expect(refused.message).toMatch(/send the same payment again$/)
    paper.node.isDown = false
    paper.contracts.add(buyer.address)
    expect((await readWith(LONG)).signature).toBe(LONG)
  })
})
