import { TypedDataEncoder, Wallet } from 'ethers'
import fc from 'fast-check'
import { type Hex, hashTypedData, numberToHex, recoverTypedDataAddress } from 'viem'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { vectors } from '../test/commitments.ts'
import { codeOf, expectOnlyProtocolErrors, hostileJson } from '../test/hostile.ts'
import { DEV_KEY, dev, REVIEW_REGISTRY, SPLIT_ROUTER } from '../test/keys.ts'
import * as Commitment from './commitment.ts'

const named = vectors.map((vector) => ({ name: vector.commitment.primaryType, ...vector }))
const find = <K extends Commitment.PrimaryType>(name: K) =>
  named.find((vector) => vector.name === name)?.commitment as Commitment.Commitment<K>
/** What a client holds after the object travelled as JSON. */
const received = (commitment: object) => JSON.parse(JSON.stringify(commitment))

function ethersDigest(commitment: Commitment.Commitment): string {
  const { domain, types, message } = Commitment.forEthers(commitment)
  return TypedDataEncoder.hash(domain, types, message)
}

describe('every commitment', () => {
  test('the eight of the interface are here', () => {
    expect(named.map(({ name }) => name)).toEqual(Object.keys(Commitment.COMMITMENTS))
  })

  test.each(named)('$name has the digest on record, by viem and by ethers', ({ commitment, digest }) => {
    expect(Commitment.digest(commitment)).toBe(digest)
    expect(ethersDigest(commitment)).toBe(digest)
  })

  test.each(named)(
    '$name is signed unchanged by viem, and by ethers with the helper, which it needs [AUTH-22]',
    async ({ commitment }) => {
      const json = received(commitment)
      const byViem = await dev.signTypedData(json)
      const wallet = new Wallet(DEV_KEY)
      const { domain, types, message } = Commitment.forEthers(Commitment.parse(json))
      expect(await wallet.signTypedData(domain, types, message)).toBe(byViem)
      await expect(wallet.signTypedData(json.domain, json.types, json.message)).rejects.toThrow()
      expect(await Commitment.recover(Commitment.parse(json), byViem)).toBe(dev.address)
      expect(await recoverTypedDataAddress({ ...json, signature: byViem })).toBe(dev.address)
    },
  )

  test.each(named)(
    '$name signed as a personal message recovers somebody else [AUTH-22]',
    async ({ commitment, digest }) => {
      const signature = await dev.signMessage({ message: { raw: digest } })
      expect(await Commitment.recover(commitment, signature)).not.toBe(dev.address)
    },
  )

  test.each(named)('$name survives JSON and is parsed to the same value', ({ commitment }) => {
    expect(Commitment.parse(received(commitment))).toEqual(commitment)
  })

  test.each(named)('$name has a domain of version 1 with four fields', ({ commitment }) => {
    expect(commitment.domain.version).toBe('1')
    expect(Object.keys(commitment.domain)).toEqual(['name', 'version', 'chainId', 'verifyingContract'])
    expect(commitment.types.EIP712Domain).toEqual([
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ])
    const splits = commitment.primaryType === 'ChargeCommitment'
    expect(commitment.domain.verifyingContract).toBe(splits ? SPLIT_ROUTER : REVIEW_REGISTRY)
  })

  test('viem and ethers agree on the digest of any message', () => {
    const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    const bytes32 = uint.map((value) => numberToHex(value, { size: 32 }))
    const text = fc.string({ unit: 'grapheme' })
    const values = {
      uint256: uint,
      uint16: fc.integer({ min: 0, max: 0xffff }),
      bytes32,
      string: text,
      address: fc.constant(dev.address),
    }
    const anyCommitment = fc.constantFrom(...Object.keys(Commitment.COMMITMENTS)).chain((name) => {
      const primaryType = name as Commitment.PrimaryType
      const fields: [string, keyof typeof values][] = Object.entries(
        Commitment.COMMITMENTS[primaryType].fields,
      )
      const message = fields.map(([field, type]) => {
        if (field === 'expiry') return [field, fc.maxSafeNat()] as const
        return [field, field === 'nonce' ? bytes32 : values[type]] as const
      })
      return fc.record({
        primaryType: fc.constant(primaryType),
        chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        message: fc.record<Record<string, unknown>>(Object.fromEntries(message)),
      })
    })
    fc.assert(
      fc.property(anyCommitment, ({ primaryType, chainId, message }) => {
        const commitment = Commitment.from(primaryType, {
          chainId,
          reviewRegistry: REVIEW_REGISTRY,
          splitRouter: SPLIT_ROUTER,
          message,
        } as never)
        const json = received(commitment)
        expect(Commitment.parse(json)).toEqual(commitment)
        expect(Commitment.digest(commitment)).toBe(ethersDigest(json))
        expect(Commitment.digest(commitment)).toBe(hashTypedData(json))
      }),
    )
  })
})

describe('field tables', () => {
  const table = (name: Commitment.PrimaryType) =>
    find(name)
      .types[name]?.map((field) => `${field.type} ${field.name}`)
      .join(', ')

  test('votes: names, types and order, with a hash in place of the votes', () => {
    expect(find('VoteCommitment').domain.name).toBe('ReferrerVotes')
    expect(table('VoteCommitment')).toBe(
      'uint256 agentId, uint256 escrowId, bytes32 votesHash, bytes32 nonce, uint256 expiry',
    )
    expect(Object.keys(find('VoteCommitment').message)).toEqual([
      'agentId',
      'escrowId',
      'votesHash',
      'nonce',
      'expiry',
    ])
  })

  test('cashback rate', () => {
    expect(find('CashbackRateCommitment').domain.name).toBe('ReferrerCashbackRate')
    expect(table('CashbackRateCommitment')).toBe(
      'uint256 agentId, uint16 cashbackOfCommissionBps, bytes32 nonce, uint256 expiry',
    )
  })

  test('review, with a uint256 nonce', () => {
    expect(find('ReviewCommitment').domain.name).toBe('ReferrerReviews')
    expect(table('ReviewCommitment')).toBe(
      'uint256 agentId, uint256 merchantId, bytes32 productId, bytes32 contentHash, uint256 nonce, uint256 expiry',
    )
  })

  test('messenger link keeps its type name', () => {
    expect(find('TelegramLinkCommitment').domain.name).toBe('ReferrerMessengerLink')
    expect(table('TelegramLinkCommitment')).toBe('uint256 agentId, bytes32 nonce, uint256 expiry')
  })

  test('intents share a domain', () => {
    for (const name of ['IntentAccessCommitment', 'IntentMarkCommitment', 'IntentSkipCommitment'] as const) {
      expect(find(name).domain.name).toBe('ReferrerIntents')
    }
    expect(table('IntentAccessCommitment')).toBe('uint256 agentId, bytes32 nonce, uint256 expiry')
    expect(table('IntentMarkCommitment')).toBe(
      'uint256 agentId, string intentId, string result, bytes32 nonce, uint256 expiry',
    )
    expect(table('IntentSkipCommitment')).toBe(
      'uint256 agentId, string intentId, string reason, bytes32 nonce, uint256 expiry',
    )
  })

  test('charge', () => {
    expect(find('ChargeCommitment').domain.name).toBe('ReferrerCharge')
    expect(table('ChargeCommitment')).toBe(
      'bytes32 txHash, bytes32 tokenHash, uint256 buyerAgentId, address payer',
    )
  })

  test('types follow the table', () => {
    type Vote = Commitment.Commitment<'VoteCommitment'>
    expectTypeOf<Vote['message']>().toEqualTypeOf<{
      agentId: string
      escrowId: string
      votesHash: Hex
      nonce: Hex
      expiry: number
    }>()
    expectTypeOf<Commitment.Message<'ReviewCommitment'>['nonce']>().toEqualTypeOf<string>()
    expectTypeOf<
      Commitment.Message<'CashbackRateCommitment'>['cashbackOfCommissionBps']
    >().toEqualTypeOf<number>()
    expectTypeOf(Commitment.from<'ChargeCommitment'>)
      .parameter(1)
      .not.toHaveProperty('reviewRegistry')
  })
})

describe('step 1 and step 2', () => {
  test('a vote shows its nonce as a decimal and signs it as bytes32', () => {
    const { commitment, nonce } = Commitment.envelope(find('VoteCommitment'))
    expect(nonce).toBe('42')
    expect(commitment.message.nonce).toBe(numberToHex(42, { size: 32 }))
    expect(Commitment.parseNonce('VoteCommitment', nonce)).toBe(commitment.message.nonce)
  })

  test('a review shows and signs a decimal nonce', () => {
    const { commitment, nonce } = Commitment.envelope(find('ReviewCommitment'))
    expect([nonce, commitment.message.nonce]).toEqual(['42', '42'])
  })

  test('the others show the nonce as they sign it', () => {
    for (const name of [
      'CashbackRateCommitment',
      'TelegramLinkCommitment',
      'IntentAccessCommitment',
      'IntentMarkCommitment',
      'IntentSkipCommitment',
    ] as const) {
      const { commitment, nonce } = Commitment.envelope(find(name))
      expect(nonce).toMatch(/^0x[0-9a-f]{64}$/)
      expect(nonce).toBe(commitment.message.nonce)
    }
  })

  test('step 2 rebuilds what step 1 showed from the top-level nonce and expiry', () => {
    const first = find('VoteCommitment')
    const { nonce, expiry } = received(Commitment.envelope(first))
    const { agentId, escrowId, votesHash } = first.message
    const again = Commitment.from('VoteCommitment', {
      chainId: first.domain.chainId,
      reviewRegistry: first.domain.verifyingContract,
      message: {
        agentId,
        escrowId,
        votesHash,
        nonce: Commitment.parseNonce('VoteCommitment', nonce),
        expiry,
      },
    })
    expect(again).toEqual(first)
  })

  test('lives one hour: expired after it, impossible before it', async () => {
    const now = 1750000000
    const expiry = Commitment.expiryAt(now)
    expect(expiry).toBe(now + 3600)
    expect(await codeOf(() => Commitment.checkExpiry(expiry, now + 3600))).toEqual({ returned: undefined })
    expect(await codeOf(() => Commitment.checkExpiry(expiry, now + 3601))).toBe('commitment_expired')
    expect(await codeOf(() => Commitment.checkExpiry(expiry + 1, now))).toBe('invalid_expiry')
    expect(await codeOf(() => Commitment.checkExpiry(Number.NaN, now))).toBe('invalid_commitment')
  })
})

describe('parsing', () => {
  const vote = received(find('VoteCommitment'))
  const refused = (name: string, value: unknown) => ({ name, value })

  test.each([
    refused('an unknown primary type', { ...vote, primaryType: 'Permit' }),
    refused('an inherited name as primary type', { ...vote, primaryType: 'constructor' }),
    refused('another domain name', { ...vote, domain: { ...vote.domain, name: 'ReferrerReviews' } }),
    refused('another domain version', { ...vote, domain: { ...vote.domain, version: '2' } }),
    refused('a salt in the domain', { ...vote, domain: { ...vote.domain, salt: vote.message.nonce } }),
    refused('chain 0', { ...vote, domain: { ...vote.domain, chainId: 0 } }),
    refused('a chain id as text', { ...vote, domain: { ...vote.domain, chainId: '84532' } }),
    refused('the zero contract', {
      ...vote,
      domain: { ...vote.domain, verifyingContract: `0x${'0'.repeat(40)}` },
    }),
    refused('an id as number', { ...vote, message: { ...vote.message, agentId: 7 } }),
    refused('an id with a leading zero', { ...vote, message: { ...vote.message, agentId: '07' } }),
    refused('an id above uint256', {
      ...vote,
      message: { ...vote.message, agentId: (2n ** 256n).toString() },
    }),
    refused('an expiry as text', { ...vote, message: { ...vote.message, expiry: '1750003600' } }),
    refused('an extra message field', { ...vote, message: { ...vote.message, votes: [] } }),
    refused('an extra type', { ...vote, types: { ...vote.types, Permit: [] } }),
    refused('an extra top-level key', { ...vote, nonce: '42' }),
    refused('fields in another order', {
      ...vote,
      types: { ...vote.types, VoteCommitment: vote.types.VoteCommitment.toReversed() },
    }),
    refused('a field of another type', {
      ...vote,
      types: {
        ...vote.types,
        VoteCommitment: vote.types.VoteCommitment.with(0, { name: 'agentId', type: 'uint128' }),
      },
    }),
    refused('an array', [vote]),
    refused('JSON text', JSON.stringify(vote)),
    refused('null', null),
  ])('refuses $name', async ({ value }) => {
    expect(await codeOf(() => Commitment.parse(value))).toBe('invalid_commitment')
  })

  test('refuses text with a lone surrogate, which encoders turn into different bytes', async () => {
    const mark = find('IntentMarkCommitment')
    const value = { ...mark, message: { ...mark.message, result: '\ud800' } }
    expect(await codeOf(() => Commitment.parse(value))).toBe('invalid_commitment')
  })

  test('makes no policy checks: old expiry, empty reason and a high rate are well-formed', () => {
    const skip = find('IntentSkipCommitment')
    const rate = find('CashbackRateCommitment')
    const old = { ...skip, message: { ...skip.message, reason: '', expiry: 0 } }
    const high = { ...rate, message: { ...rate.message, cashbackOfCommissionBps: 9000 } }
    for (const commitment of [old, high]) expect(Commitment.parse(commitment)).toEqual(commitment)
  })

  test.each(named)(
    'answers hostile JSON near $name with a commitment or a ProtocolError',
    async ({ commitment }) => {
      await expectOnlyProtocolErrors(hostileJson(commitment), (value) =>
        Commitment.digest(Commitment.parse(value)),
      )
    },
  )
})
