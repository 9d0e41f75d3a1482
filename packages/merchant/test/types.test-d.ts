// What the compiler promises to shops. The types step of `npm test` checks it; nothing here runs.
import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { Hex } from 'viem'
import { expectTypeOf } from 'vitest'
import { expressHandler } from '../src/express.ts'
import { fastifyReferral } from '../src/fastify.ts'
import { honoHandler } from '../src/hono.ts'
import {
  createReferralEndpoint,
  type MarketConfig,
  type MerchantEvent,
  type PaymentMemory,
  type Price,
  type ProductInput,
  type ProductOutput,
  type ReferralConfig,
  type ReferralEndpoint,
  type Sale,
} from '../src/index.ts'
import { nextHandlers } from '../src/next.ts'
import { nodeHandler } from '../src/node.ts'
import { officialReferral } from '../src/x402.ts'

declare const market: MarketConfig
declare const endpoint: ReferralEndpoint
const { payments, ...forgetful } = market

// Every endpoint names the memory that it shares with the others of the process.
expectTypeOf(payments).toEqualTypeOf<PaymentMemory>()
// @ts-expect-error: payments is missing
createReferralEndpoint({ ...forgetful, price: '0.10', serve: () => ({}) })
// @ts-expect-error: payments is missing
officialReferral(forgetful)

// Money is text or bigint, never a floating-point number.
expectTypeOf<Price>().toEqualTypeOf<bigint | string>()
// @ts-expect-error: 0.1 cannot be written exactly as a number
createReferralEndpoint({ ...market, price: 0.1, serve: () => ({}) })
expectTypeOf<Sale['amount']>().toEqualTypeOf<bigint>()

// A price may be a function of the request, which may also refuse it.
createReferralEndpoint({
  ...market,
  price: async (request) => (request.method === 'POST' ? 100_000n : new Response(null, { status: 404 })),
  serve: (_request, sale) => expectTypeOf(sale).toEqualTypeOf<Sale>(),
})
// The official middleware has no Response to refuse with.
officialReferral(market).route(async ({ adapter }) => (adapter.getHeader('x') ? '0.10' : 200_000n))
// @ts-expect-error: a price or nothing
officialReferral(market).route(() => new Response())

// A product of an endpoint has texts for the offer; that of the middleware's route has its own.
expectTypeOf<NonNullable<ReferralConfig['product']>>().toEqualTypeOf<
  { id?: Hex } & { description?: string; mimeType?: string; input?: ProductInput; output?: ProductOutput }
>()

// An event is told by its type, and carries what that one has.
declare const event: MerchantEvent
if (event.type === 'sold') expectTypeOf(event.sale).toEqualTypeOf<Sale>()
if (event.type === 'claims_failed') expectTypeOf(event.error).toEqualTypeOf<unknown>()

// The handlers fit the frameworks as they are.
express().all('/buy', expressHandler(endpoint))
new Hono().on(['GET', 'POST'], '/buy', honoHandler(endpoint))
fastify().register(fastifyReferral, { url: '/buy', endpoint })
expectTypeOf(nodeHandler(endpoint)).parameters.toEqualTypeOf<[IncomingMessage, ServerResponse]>()
expectTypeOf(nextHandlers(endpoint).GET).toEqualTypeOf<(request: Request) => Promise<Response>>()
