// The readiness check of a referral endpoint: calls it once, as a buyer does before paying.
import { type Fetched, HostNotAllowed, Unreachable } from '@referrer/net'
import type { Address } from 'viem'
import type { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { type Fields, fieldsOf, listOf } from '../../kit/loose-json.ts'
import { MarketError } from '../../kit/market-error.ts'
import { askEndpoint, requiredIn } from './endpoint.ts'
import type { Readiness } from './shapes.ts'

/** Everybody may check any endpoint: the answer does not depend on the caller. */
export async function checkReadiness(
  context: Context,
  { config: { contracts } }: Chain,
  resource: URL,
): Promise<z.output<typeof Readiness>> {
  let fetched: Fetched
  try {
    fetched = await askEndpoint(context, resource)
  } catch (error) {
    if (error instanceof HostNotAllowed) throw hostNotAllowed()
    if (!(error instanceof Unreachable)) throw error
    return { pass: false, checks: [{ name: 'reachable', ok: false, detail: error.message }] }
  }
  const required = requiredIn(fetched)
  const router = contracts.SplitRouter.at(-1) as Address
  const isEchoed = Object.hasOwn(fieldsOf(required.extensions), 'attributionToken')
  const checks: z.output<typeof Readiness>['checks'] = [
    { name: 'returns_402', ok: fetched.status === 402, detail: `status ${fetched.status}` },
    { name: 'payto_is_splitrouter', ok: paysTo(required, router), detail: router },
    {
      name: 'echoes_attribution',
      ok: isEchoed,
      ...(!isEchoed && { detail: 'no extensions.attributionToken' }),
    },
  ]
  return { pass: checks.every(({ ok }) => ok), checks }
}

const hostNotAllowed = () =>
  new MarketError('invalid input', 'host not allowed', {
    detail: 'resource must have a host with public addresses: none that is private, and a name that resolves',
  })

function paysTo(required: Fields, router: Address): boolean {
  return [required, ...listOf(required.accepts)].some((offer) => {
    const { payTo } = fieldsOf(offer)
    return typeof payTo === 'string' && payTo.toLowerCase() === router.toLowerCase()
  })
}
