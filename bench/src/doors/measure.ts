import { RequestSignature } from '@referrer/protocol'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

export interface Door {
  url: string
  meter: string
}

export interface Asked {
  method: string
  target: string
  body?: string
  isSigned: boolean
  headers?: Record<string, string>
}

/** More than this is measured again, and the median counts: a process that was just started compiles and collects garbage. */
const LOOKED_AT_AGAIN_MS = 10
const AGAIN = 4
/** How long an answer is waited for. */
const PATIENCE_MS = 8_000

const usedMs = async ({ meter }: Door) => Number(await (await fetch(meter)).text()) / 1_000

/** Processor time of the process for one such request, in milliseconds, and the status of the answer. */
export async function costOf(door: Door, asked: Asked): Promise<{ ms: number; status: number }> {
  const first = await once(door, asked)
  if (first.ms <= LOOKED_AT_AGAIN_MS) return first
  const costs: number[] = []
  for (let count = 0; count < AGAIN; count += 1) costs.push((await once(door, asked)).ms)
  costs.sort((a, b) => a - b)
  return { ...first, ms: ((costs[AGAIN / 2 - 1] ?? 0) + (costs[AGAIN / 2] ?? 0)) / 2 }
}

async function once(door: Door, asked: Asked): Promise<{ ms: number; status: number }> {
  // Made before the clock runs, each with a key of its own: a repeated request would count as a replay.
  const headers = {
    'content-type': 'application/json',
    'x-forwarded-for': nextClient(),
    ...asked.headers,
    ...(asked.isSigned && (await signed(asked))),
  }
  const before = await usedMs(door)
  const status = await send(door, asked, headers)
  return { ms: (await usedMs(door)) - before, status }
}

async function send(
  { url }: Door,
  { method, target, body }: Asked,
  headers: Record<string, string>,
): Promise<number> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const response = await fetch(`${url}${target}`, {
      method,
      headers,
      signal,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    // A body that is not read to its end may cost the connection, and some answers wait for a chain.
    return 0
  }
}

let clients = 0
/** Each request comes from another client, so that no limit of a client refuses it. */
function nextClient(): string {
  clients += 1
  return `100.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`
}

async function signed({ body = '' }: Asked): Promise<Record<string, string>> {
  const account = privateKeyToAccount(generatePrivateKey())
  return RequestSignature.serialize(
    await RequestSignature.sign(account, body, Math.floor(Date.now() / 1_000)),
  ) as unknown as Record<string, string>
}
