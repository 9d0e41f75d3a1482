// Whether a referral endpoint answers as buyers need it: asks it once, as a buyer would before paying.
import { type Fetched, guardedFetch, HostNotAllowed, Unreachable } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import type { Address } from 'viem'
import type { z } from 'zod'
import type { Chain, Context } from '../context.ts'
import { MarketError } from '../market-error.ts'
import type { Readiness } from './shapes.ts'

/** Stands where the token of a ref link would. */
export const PROBE_TOKEN = 'referrer-readiness-probe'

/** Anybody may ask about any endpoint: nothing in the answer depends on who asks. */
export async function checkReadiness(
  { config: { allowPrivateHosts }, lookup }: Context,
  { config: { contracts } }: Chain,
  resource: URL,
): Promise<z.output<typeof Readiness>> {
  let fetched: Fetched
  try {
    fetched = await guardedFetch({ allowPrivateHosts, lookup }, resource, {
      headers: { [X402.REFERRER_TOKEN_HEADER]: PROBE_TOKEN },
    })
  } catch (error) {
    if (error instanceof HostNotAllowed) throw new MarketError('invalid input', 'host not allowed')
    if (!(error instanceof Unreachable)) throw error
    return { pass: false, checks: [{ name: 'reachable', ok: false, detail: error.message }] }
  }
  const body = jsonOf(fetched.body)
  const router = contracts.SplitRouter.at(-1) as Address
  const isEchoed = Object.hasOwn(fieldsOf(body.extensions), 'attributionToken')
  const checks: z.output<typeof Readiness>['checks'] = [
    { name: 'returns_402', ok: fetched.status === 402, detail: `status ${fetched.status}` },
    { name: 'payto_is_splitrouter', ok: paysTo(body, router), detail: router },
    {
      name: 'echoes_attribution',
      ok: isEchoed,
      ...(!isEchoed && { detail: 'no extensions.attributionToken' }),
    },
  ]
  return { pass: checks.every(({ ok }) => ok), checks }
}

type Fields = Record<string, unknown>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

function jsonOf(bytes: Buffer): Fields {
  try {
    return fieldsOf(JSON.parse(bytes.toString()))
  } catch {
    return {}
  }
}

function paysTo(body: Fields, router: Address): boolean {
  const offers: unknown[] = Array.isArray(body.accepts) ? body.accepts : []
  return [body, ...offers].some((offer) => {
    const { payTo } = fieldsOf(offer)
    return typeof payTo === 'string' && payTo.toLowerCase() === router.toLowerCase()
  })
}
