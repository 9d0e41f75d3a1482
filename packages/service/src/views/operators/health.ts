// How the service is doing, for admins: what `/readyz` tells to everybody, and our keys' balances.
import { sharedQuestion } from '@referrer/process'
import { z } from 'zod'
import { countTexts } from '../../discovery/embeddings/store.ts'
import { checkChain } from '../../kit/chain-check.ts'
import { type Context, once } from '../../kit/context.ts'
import { accountShown, wholeNumber } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { readAccounts } from './accounts.ts'

const DATABASE_TIMEOUT_MS = 2_000

const block = wholeNumber.nullable().meta({ about: 'The number of a block; null: not known yet.' })

const Health = z
  .object({
    workers: z.array(z.object({ name: z.string(), state: z.string(), restarts: z.int() })),
    chains: z.array(
      z.object({
        chain_id: wholeNumber,
        head: block,
        indexed: block,
        lag_seconds: z.number().nullable(),
        detail: z.string(),
      }),
    ),
    keys: z.array(
      z.object({
        role: z.enum(['oracle', 'publisher']),
        chain_id: wholeNumber,
        address: accountShown,
        balance_wei: z
          .string()
          .nullable()
          .meta({
            about: 'In decimal; null when the chain cannot be read.',
            shown: { type: ['string', 'null'], pattern: '^[0-9]{1,78}$' },
          }),
        is_low: z.boolean().meta({ about: 'Whether it should be filled up soon.' }),
      }),
    ),
    outbox: z
      .object({
        waiting: wholeNumber.meta({ about: 'Our own transactions that are not confirmed yet.' }),
        oldest_seconds: z.number().nullable().meta({ about: 'Null when none waits.' }),
      })
      .meta({ about: 'Of all chains.' }),
    embeddings_waiting: wholeNumber.meta({ about: 'Texts that a model has yet to embed.' }),
  })
  .meta({ id: 'ServiceHealth' })

export const healthRoute: Route = route({
  method: 'GET',
  path: '/admin/health',
  tag: 'Admin',
  summary: 'How the workers, the chains and our keys are doing',
  about: 'Workers are those of the replica that answers.',
  auth: 'admin',
  response: Health,
  handle: ({ context }) => readHealth(context),
})

async function readHealth(context: Context): Promise<z.output<typeof Health>> {
  const [[chains, sent, texts], keys] = await Promise.all([askDatabase(context)(), keysOf(context)])
  const known = new Map(chains.map((chain) => [chain.chainId, chain]))
  const waiting = sent.filter(({ count }) => count > 0)
  return {
    workers: context.workerHealth().map(({ name, state, restarts }) => ({ name, state, restarts })),
    chains: await Promise.all(
      context.config.chains.map(async (chain) => {
        const { head = null, indexed = null, lagSeconds = null } = known.get(chain.chainId) ?? {}
        return {
          chain_id: chain.chainId,
          head: head === null ? null : whole(head),
          indexed: indexed === null ? null : whole(indexed),
          lag_seconds: lagSeconds,
          detail: (await checkChain(known.get(chain.chainId), chain, context)).detail,
        }
      }),
    ),
    keys,
    outbox: {
      waiting: waiting.reduce((sum, { count }) => sum + count, 0),
      oldest_seconds: waiting.length ? Math.max(...waiting.map(({ oldestSeconds }) => oldestSeconds)) : null,
    },
    embeddings_waiting: texts.reduce((sum, { count }) => sum + count, 0),
  }
}

const askDatabase = once((context) =>
  sharedQuestion(DATABASE_TIMEOUT_MS, () =>
    Promise.all([context.chainHealth(), context.senderHealth(), countTexts(context.sql)]),
  ),
)

/** The keys that send transactions, on every chain. */
async function keysOf(context: Context): Promise<z.output<typeof Health>['keys']> {
  const accounts = await readAccounts(context)
  return accounts.map(({ role, chainId, address, balance, reserve }) => ({
    role,
    chain_id: chainId,
    address,
    balance_wei: balance === undefined ? null : String(balance),
    is_low: balance !== undefined && balance < reserve,
  }))
}
