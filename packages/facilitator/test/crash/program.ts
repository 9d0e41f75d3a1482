// The facilitator as it is deployed, except that it can be told at which step to die.
import { failStart, runUntilSignal } from '@referrer/process'
import { readConfig } from '../../src/config.ts'
import { type Overrides, startFacilitator } from '../../src/facilitator.ts'
import type { Deadly, FixtureSettings } from './process.ts'

const { patienceMs }: FixtureSettings = JSON.parse(process.env.FIXTURE ?? '{}')
let deadly: Deadly | undefined
/** A process that is to die between the row and the signature must not get on to the signature meanwhile. */
let isCutOff = false

process.on('message', (step: Deadly) => {
  deadly = step
  process.send?.('armed')
})

function passed(step: string): void {
  if (step === deadly) process.kill(process.pid, 'SIGKILL')
}

/** A trial puts code at the relayer's address. */
function isTrial(body: unknown): boolean {
  const { method, params }: { method?: string; params?: unknown[] } = JSON.parse(String(body))
  return method === 'eth_call' && params?.length === 3
}

async function fetchAndDie(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  if (isCutOff) return new Promise(() => {})
  const signals = [init?.signal, patienceMs && AbortSignal.timeout(patienceMs)].filter((each) => !!each)
  const answer = await fetch(input, { ...init, signal: AbortSignal.any(signals as AbortSignal[]) })
  if (isTrial(init?.body)) {
    isCutOff = deadly === 'sending'
    passed('tried')
  }
  return answer
}

const overrides: Overrides = {
  fetch: fetchAndDie,
  onEvent: (event) => passed(event.type === 'sender' ? event.event.type : event.type),
}
const { url } = await runUntilSignal(() => startFacilitator(readConfig(process.env), overrides)).catch(
  failStart,
)
process.stdout.write(`ready on ${url},\n`)
