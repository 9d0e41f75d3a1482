// What the compiler promises about the generic types. The types step of `npm test` checks it; nothing here runs.
import type { Address, Hex } from 'viem'
import { expectTypeOf } from 'vitest'
import { type Attribution, Authorization, Commitment, ProtocolError, X402 } from '../src/index.ts'

declare const address: Address
declare const hex: Hex

// A commitment's message has the fields of its own type, as JSON carries them.
expectTypeOf<Commitment.Message<'CashbackRateCommitment'>>().toEqualTypeOf<{
  agentId: string
  cashbackOfCommissionBps: number
  nonce: Hex
  expiry: number
}>()
expectTypeOf<Commitment.Message<'IntentSkipCommitment'>>().toEqualTypeOf<{
  agentId: string
  intentId: string
  reason: string
  nonce: Hex
  expiry: number
}>()
expectTypeOf<Commitment.Message<'ReviewCommitment'>['nonce']>().toEqualTypeOf<string>()

// Callers may give ids in any integer form, and the nonce as bytes whatever form is signed.
expectTypeOf<Commitment.MessageInput<'ReviewCommitment'>['agentId']>().toEqualTypeOf<
  bigint | number | string
>()
expectTypeOf<Commitment.MessageInput<'ReviewCommitment'>['nonce']>().toEqualTypeOf<Hex>()
expectTypeOf<Commitment.MessageInput<'ChargeCommitment'>['payer']>().toEqualTypeOf<Address>()

// The charge is the only commitment that has no second step.
expectTypeOf<Exclude<Commitment.PrimaryType, Commitment.TwoStepType>>().toEqualTypeOf<'ChargeCommitment'>()

// `from` asks for the contract that verifies the commitment, and for no other.
const message = { agentId: 7, nonce: hex, expiry: 1 }
expectTypeOf(
  Commitment.from('IntentAccessCommitment', { chainId: 1, reviewRegistry: address, message }),
).toEqualTypeOf<Commitment.Commitment<'IntentAccessCommitment'>>()
// @ts-expect-error: a review commitment is verified by the review registry
Commitment.from('IntentAccessCommitment', { chainId: 1, splitRouter: address, message })
const { nonce: _nonce, ...incomplete } = message
// @ts-expect-error: the message lacks its nonce
Commitment.from('IntentAccessCommitment', { chainId: 1, reviewRegistry: address, message: incomplete })
// @ts-expect-error: there is no such commitment
Commitment.from('OtherCommitment', { chainId: 1, reviewRegistry: address, message })

// The union tells its members apart by `primaryType`.
declare const anyCommitment: Commitment.Commitment
if (anyCommitment.primaryType === 'VoteCommitment') {
  expectTypeOf(anyCommitment.message.votesHash).toEqualTypeOf<Hex>()
}

// An envelope keeps the type of its commitment, and a charge has none.
declare const vote: Commitment.Commitment<'VoteCommitment'>
declare const charge: Commitment.Commitment<'ChargeCommitment'>
expectTypeOf(Commitment.envelope(vote)).toEqualTypeOf<{
  commitment: Commitment.Commitment<'VoteCommitment'>
  nonce: string
  expiry: number
}>()
// @ts-expect-error: a charge is not a commitment of two steps
Commitment.envelope(charge)

// The typed data of an authorisation has the one type that it is signed as.
declare const domain: Authorization.TokenDomain
declare const payment: Authorization.AuthorizationInput
const typedData = Authorization.typedData('ReceiveWithAuthorization', domain, payment)
expectTypeOf(typedData.primaryType).toEqualTypeOf<'ReceiveWithAuthorization'>()
expectTypeOf<keyof typeof typedData.types>().toEqualTypeOf<'ReceiveWithAuthorization'>()
expectTypeOf(typedData.message).toEqualTypeOf<Authorization.Authorization>()
// @ts-expect-error: EIP-3009 has two messages, and a cancellation moves no money
Authorization.typedData('CancelAuthorization', domain, payment)

declare const unknownType: unknown
if (Authorization.isAuthorizationType(unknownType)) {
  expectTypeOf(unknownType).toEqualTypeOf<Authorization.AuthorizationType>()
}

// Decoders take anything.
expectTypeOf(X402.PaymentPayload.parse).parameter(0).toEqualTypeOf<unknown>()
expectTypeOf(X402.decodeHeader).returns.toEqualTypeOf<unknown>()
expectTypeOf<X402.Network.Network>().toEqualTypeOf<`eip155:${number}`>()

// A settlement tells success from failure by `success`.
declare const settled: X402.SettleResponse.SettleResponse
if (settled.success) expectTypeOf(settled.payer).toEqualTypeOf<Address>()
else expectTypeOf(settled.retryable).toEqualTypeOf<boolean | undefined>()

// Amounts and ids of the chain are bigint.
expectTypeOf<Attribution.Attribution['merchantId']>().toEqualTypeOf<bigint>()
// @ts-expect-error: codes are a closed list
new ProtocolError('other', 'text')
