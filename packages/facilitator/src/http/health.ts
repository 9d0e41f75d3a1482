import { sharedQuestion } from '@referrer/process'
import type { FastifyInstance } from 'fastify'
import type { Chain, Context } from '../context.ts'
import { lookAtRelayers, troubleOf } from '../relayers.ts'

interface Check {
  ok: boolean
  detail: string
}

const PATIENCE_MS = 4_000

/** `/healthz`: the process lives. `/readyz`: payments that come now can be settled. */
export function healthRoutes(app: FastifyInstance, context: Context, isStopping: () => boolean): void {
  const checks = new Map<string, () => Promise<Check>>([
    ['database', sharedQuestion(PATIENCE_MS, () => checkDatabase(context))],
    ...[...context.chains.values()].map(
      (chain) =>
        [`chain ${chain.chainId}`, sharedQuestion(PATIENCE_MS, () => checkChain(context, chain))] as const,
    ),
  ])

  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const results = await Promise.all(
      [...checks].map(async ([name, check]) => {
        const silent: Check = { ok: false, detail: 'does not answer' }
        return [
          name,
          await check().catch((err) => {
            context.log.warn({ err }, `${name} does not answer`)
            return silent
          }),
        ] as const
      }),
    )
    const isReady = !isStopping() && results.every(([, { ok }]) => ok)
    return reply.code(isReady ? 200 : 503).send({
      status: isStopping() ? 'stopping' : isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results),
    })
  })
}

async function checkDatabase({ sql }: Context): Promise<Check> {
  await sql`SELECT 1`
  return { ok: true, detail: 'answers' }
}

/** The nodes must answer rightly. One relayer that can settle is enough; the detail says what is wrong with the others. */
async function checkChain(context: Context, chain: Chain): Promise<Check> {
  const { wrong } = await chain.checkNodes()
  if (wrong.length > 0) return { ok: false, detail: wrong.join('; ') }
  const troubles = (await lookAtRelayers(context, chain)).map((state) => troubleOf(chain, state))
  const able = troubles.filter((trouble) => trouble === undefined).length
  const detail = [`${able} of ${troubles.length} relayers can settle`, ...troubles].filter(Boolean).join('; ')
  return { ok: able > 0, detail }
}
