import postgres from 'postgres'
import { readAddress } from './address.ts'
import { arrayTypes } from './arrays.ts'
import { createFront, type QueryObserver } from './front.ts'
import { seekServers } from './servers.ts'
import { addressOptions, type Driver } from './session.ts'
import type { Sql } from './sql.ts'

export interface ConnectOptions {
  /** Most connections at once. */
  max?: number
  /** Shown in pg_stat_activity. */
  name?: string
  observe?: QueryObserver | undefined
}

const INT8 = 20
const NUMERIC = 1700

/** A pool. Whole numbers that may outgrow a double (int8, numeric) are JS bigints in both directions. */
export function connect(url: string, { max = 10, name = 'referrer', observe }: ConnectOptions = {}): Sql {
  const address = readAddress(url)
  if (address.hosts.length === 1 && !address.isWritten)
    return createFront(configureDriver(url, name), max, { observe })
  const servers = seekServers(address, (host) => driverOf(address.url, name, addressOptions(host)))
  // Sessions are told their server; the driver connects by itself only to listen.
  const driver = driverOf(address.url, name, {
    ...addressOptions(address.hosts[0]),
    socket: servers.openToListen,
  })
  return createFront(driver, max, { servers, observe })
}

/** The driver with our settings for one server. */
export function configureDriver(url: string, name: string): Driver {
  const { url: first, hosts } = readAddress(url)
  return driverOf(first, name, addressOptions(hosts[0]))
}

function driverOf(url: URL, name: string, address: object): Driver {
  const driver = postgres(url.href, {
    ...address,
    // A machine that vanished is noticed after this and ten more seconds.
    keep_alive: 10,
    connect_timeout: 10,
    connection: {
      application_name: name,
      statement_timeout: 60_000,
      idle_in_transaction_session_timeout: 60_000,
    },
    types: {
      bigint: { to: INT8, from: [INT8], serialize: String, parse: BigInt },
      numeric: { to: NUMERIC, from: [NUMERIC], serialize: String, parse: wholeNumber },
      ...arrayTypes,
    },
    fetch_types: false,
    onnotice: () => {},
  })
  return driver as unknown as Driver
}

function wholeNumber(text: string): bigint {
  if (!/^-?\d+$/.test(text)) throw new RangeError(`numeric ${text} is not whole: round it or cast it to text`)
  return BigInt(text)
}
