// What the compiler promises about the client. The types step of `npm test` checks it; nothing here runs.
import { createWalletClient, custom, type EIP1193Provider, type PublicClient, type WalletClient } from 'viem'
import { privateKeyToAccount, toAccount } from 'viem/accounts'
import { expectTypeOf } from 'vitest'
import type { paths } from '../src/generated/openapi.ts'
import type { LISTINGS, ROUTES } from '../src/generated/routes.ts'
import {
  type AnswerOf,
  type ConnectedWallet,
  createReferrerClient,
  type EntryOf,
  type ListingPath,
  type PathOf,
  type RequestOf,
  type SigningAccount,
} from '../src/index.ts'

declare const provider: EIP1193Provider
const market = createReferrerClient({ url: 'https://market.test' })

// Every path is one of a method's, and every route of the table has its method.
type Reached = PathOf<'get'> | PathOf<'post'> | PathOf<'put'> | PathOf<'delete'>
expectTypeOf<Reached>().toEqualTypeOf<keyof paths>()
type Routes =
  | `GET ${PathOf<'get'>}`
  | `POST ${PathOf<'post'>}`
  | `PUT ${PathOf<'put'>}`
  | `DELETE ${PathOf<'delete'>}`
expectTypeOf<Routes>().toEqualTypeOf<keyof typeof ROUTES>()
expectTypeOf<ListingPath>().toEqualTypeOf<keyof typeof LISTINGS>()

// None of their answers and entries is lost on the way: a route that answers nothing says so.
type Unknown<T> = unknown extends T ? true : [T] extends [never] ? true : false
type Lost<M extends 'get' | 'post' | 'put' | 'delete'> = {
  [P in PathOf<M>]: Unknown<AnswerOf<P, M>> extends true ? P : never
}[PathOf<M>]
expectTypeOf<Lost<'get'> | Lost<'post'> | Lost<'put'> | Lost<'delete'>>().toEqualTypeOf<never>()
expectTypeOf<
  { [P in ListingPath]: Unknown<EntryOf<P>> extends true ? P : never }[ListingPath]
>().toEqualTypeOf<never>()
expectTypeOf(market.delete('/v1/intents/{id}', { params: { path: { id: 'a' } } })).toEqualTypeOf<
  Promise<undefined>
>()
expectTypeOf(market.get('/skill.md')).toEqualTypeOf<Promise<string>>()

// What is required is required, and nothing else is taken.
void market.get('/v1/review')
void market.post('/v1/messenger/link/status')
expectTypeOf<RequestOf<'/v1/proof', 'post'>['body']['product_id']>().toEqualTypeOf<string>()
// @ts-expect-error: no path parameter
void market.get('/v1/agent/{id}')
// @ts-expect-error: no body
void market.post('/v1/proof')
// @ts-expect-error: the method is another
void market.post('/v1/agent')
// @ts-expect-error: there is no such route
void market.get('/v1/agents')
// @ts-expect-error: a body of another route
void market.post('/v1/agent/register', { body: { merchant_id: 1 } })
// @ts-expect-error: an unknown query parameter
void market.get('/v1/discover', { params: { query: { intent: 'x', colour: 'red' } } })
// @ts-expect-error: not a listing
void market.pages('/v1/discover', { params: { query: { intent: 'x' } } })

// Accounts and wallets of viem fit as they are, one that is not connected yet too: wagmi has those.
expectTypeOf(privateKeyToAccount(`0x${'11'.repeat(32)}`)).toExtend<SigningAccount>()
expectTypeOf(
  toAccount({
    address: `0x${'11'.repeat(20)}`,
    signMessage: async () => '0x',
    signTransaction: async () => '0x',
    signTypedData: async () => '0x',
  }),
).toExtend<SigningAccount>()
expectTypeOf(createWalletClient({ transport: custom(provider) })).toExtend<ConnectedWallet>()
expectTypeOf<WalletClient>().toExtend<ConnectedWallet>()
expectTypeOf<PublicClient>().not.toExtend<ConnectedWallet>()
