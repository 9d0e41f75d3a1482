import { createServer } from 'node:net'

export const HOST = '127.0.0.1'

/** Where the parts of the sandbox listen. `PORT_OFFSET` shifts all of them. */
export interface Ports {
  chain: number
  service: number
  facilitator: number
  shop: number
  chat: number
  faucet: number
  /** Of the second chain, where there is one. */
  second?: { chain: number; shop: number }
}

/** How many chains the sandbox has. */
export type Chains = 1 | 2

/** Ports above 1023 that browsers and Node's fetch refuse to call: https://fetch.spec.whatwg.org/#port-blocking */
const FORBIDDEN = [
  ...[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
    6697,
  ],
  10080,
]
const MOST = 56_000
const STEP = 100
const DEFAULTS = {
  chain: 8545,
  service: 8080,
  facilitator: 8081,
  shop: 8083,
  chat: 8084,
  faucet: 8085,
  secondShop: 8087,
}

export function readOffset(env: NodeJS.ProcessEnv): number {
  const offset = Number(env.PORT_OFFSET ?? 0)
  if (!Number.isInteger(offset) || offset < 0 || offset > MOST) {
    throw new Error(`PORT_OFFSET must be a whole number from 0 to ${MOST}, not "${env.PORT_OFFSET}"`)
  }
  return offset
}

export function readPorts(env: NodeJS.ProcessEnv, chains: Chains = 1): Ports {
  const offset = readOffset(env)
  const { chain, service, facilitator, shop, chat, faucet, secondShop } = DEFAULTS
  return {
    chain: chain + offset,
    service: service + offset,
    facilitator: facilitator + offset,
    shop: shop + offset,
    chat: chat + offset,
    faucet: faucet + offset,
    ...(chains === 2 && { second: { chain: chain + 1 + offset, shop: secondShop + offset } }),
  }
}

/** Fails with one line that says what to do, before anything is started. */
export async function requireFree(ports: Ports): Promise<void> {
  const all = named(ports)
  const forbidden = all.find(([, port]) => FORBIDDEN.includes(port))
  if (forbidden) {
    const [name, port] = forbidden
    throw new Error(
      `port ${port} (${name}) is one that browsers and fetch refuse to call: shift all ports with ${next(ports)}`,
    )
  }
  for (const [name, port] of all) {
    if (await isTaken(port)) {
      throw new Error(
        `port ${port} (${name}) is in use: stop what uses it, or shift all ports with ${next(ports)}`,
      )
    }
  }
}

const named = ({ second, ...first }: Ports): [string, number][] => [
  ...Object.entries(first),
  ...Object.entries(second ?? {}).map(([name, port]): [string, number] => [`second ${name}`, port]),
]

/** The command for the next ports that may be called. */
function next(ports: Ports): string {
  let offset = ports.service - DEFAULTS.service
  do offset = (offset + STEP) % MOST
  while (named(readPorts({ PORT_OFFSET: String(offset) }, 2)).some(([, port]) => FORBIDDEN.includes(port)))
  return `PORT_OFFSET=${offset} npm start`
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(true) : reject(error),
    )
    probe.listen(port, HOST, () => probe.close(() => resolve(false)))
  })
}
