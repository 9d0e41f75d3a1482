import { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { account, clamp, integer, offset, optional } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { type Filter, listResources, readCursor, searchResources } from './operations.ts'
import { BazaarResources, BazaarSearch } from './shapes.ts'

const LISTED = { default: 20, most: 100 }
const FOUND = { default: 10, most: 20 }

const filters = {
  type: optional(z.string().meta({ about: 'Everything here is `http`.' })),
  payTo: optional(
    account(
      'invalid payTo',
      'Only what is paid to this account: everything for the split router, else the products of its owner or payout wallet.',
    ),
  ),
  scheme: optional(z.string().meta({ about: 'Everything here is `exact`.' })),
  network: optional(
    z.string().meta({ about: 'Only this chain, as CAIP-2 names it, such as `eip155:8453`.' }),
  ),
  extensions: optional(z.string().meta({ about: 'Everything here has `bazaar`.' })),
}

interface Call {
  context: Context
  chain: Chain
  isChainNamed: boolean
}

/** Of all chains, unless the caller names one. */
const chainsOf = ({ context, chain, isChainNamed }: Call): Chain[] =>
  isChainNamed ? [chain] : [...context.chains.values()]

const filterOf = ({ type, payTo, scheme, network, extensions }: Partial<Filter>): Filter => ({
  ...{ type, payTo, scheme, network, extensions },
})

export const bazaarRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/discovery/resources',
    tag: 'Discovery',
    summary: "Everything that is sold here, as a catalogue of x402's Bazaar",
    about:
      'For clients of x402 that know nothing of this market, such as the official `withBazaar`. Open products that have an endpoint, best rank first, of all chains unless one is named. A list stays as it is for ten seconds.',
    auth: 'none',
    perSecond: 5,
    query: z.object({
      ...filters,
      limit: integer(LISTED.default, `How many, 1 to ${LISTED.most}.`, clamp(1, LISTED.most)),
      offset,
    }),
    takesChain: true,
    response: BazaarResources,
    refusals: { 400: 'invalid payTo' },
    handle: (call) => listResources(call.context, chainsOf(call), filterOf(call.query), call.query),
  }),
  route({
    method: 'GET',
    path: '/discovery/search',
    tag: 'Discovery',
    summary: "What is sold here that matches some words, as a catalogue of x402's Bazaar",
    about:
      'The same search as `/v1/discover`, without what does not match. It ends after 60 matches on each chain.',
    auth: 'none',
    perSecond: 5,
    query: z.object({
      query: z
        .string()
        .min(1)
        .meta({
          refusal: 'query is required',
          about: 'What you want, in words. Only the first 1,000 characters count.',
          shown: { type: 'string', minLength: 1, examples: ['weather forecast for a city'] },
        }),
      ...filters,
      limit: integer(FOUND.default, `How many, 1 to ${FOUND.most}.`, clamp(1, FOUND.most)),
      cursor: optional(z.string().meta({ about: 'Of the page before; left out, the first page.' })),
    }),
    takesChain: true,
    response: BazaarSearch,
    refusals: { 400: ['query is required', 'invalid payTo', 'invalid cursor'] },
    handle: (call) =>
      searchResources(call.context, chainsOf(call), filterOf(call.query), {
        ...call.query,
        cursor: readCursor(call.query.cursor),
      }),
  }),
]
