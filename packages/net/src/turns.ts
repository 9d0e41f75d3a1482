import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whom a work is for, by kind: `{ client: '192.0.2.1', host: 'shop.example' }`. */
export type For<K extends string> = Readonly<Partial<Record<K, string>>>

export interface Turns<K extends string = never> {
  /** Runs the work when it is its turn. */
  <T>(work: () => Promise<T>, whom?: For<K>): Promise<T>
  /** Whether work for this one would begin at once. */
  hasRoom(whom?: For<K>): boolean
  /** How many more could run now. */
  free(): number
  /** Those of a kind who have no room. */
  full(kind: K): string[]
}

/**
 * Limits concurrency: at most `most` run at once, and of each kind at most so many for the same one. The others wait in order of arrival;
 * who waits for his own others is passed by.
 */
export function createTurns<K extends string = never>(
  most: number,
  ofOne: Readonly<Record<K, number>> = {} as Record<K, number>,
): Turns<K> {
  const waiting: { keys: readonly Key[]; begin: () => void }[] = []
  const atWork = new Map<string, number>()
  let all = 0

  type Key = readonly [name: string, most: number]
  const keysOf = (whom: For<K>): Key[] =>
    Object.entries<string | undefined>(whom).flatMap(([kind, name]) =>
      name === undefined ? [] : [[`${kind} ${name}`, ofOne[kind as K]] as const],
    )
  const hasRoomFor = (keys: readonly Key[]) =>
    all < most && keys.every(([name, bound]) => (atWork.get(name) ?? 0) < bound)

  function add(keys: readonly Key[], by: 1 | -1): void {
    all += by
    for (const [name] of keys) {
      const now = (atWork.get(name) ?? 0) + by
      if (now > 0) atWork.set(name, now)
      else atWork.delete(name)
    }
  }

  function beginWaiting(): void {
    for (let at = 0; at < waiting.length && all < most; ) {
      const next = waiting[at]
      if (!next || !hasRoomFor(next.keys)) at += 1
      else {
        waiting.splice(at, 1)
        add(next.keys, 1)
        next.begin()
      }
    }
  }

  async function turn<T>(work: () => Promise<T>, whom = {} as For<K>): Promise<T> {
    const keys = keysOf(whom)
    if (hasRoomFor(keys)) add(keys, 1)
    else await new Promise<void>((begin) => waiting.push({ keys, begin }))
    try {
      return await work()
    } finally {
      add(keys, -1)
      beginWaiting()
    }
  }
  return Object.assign(turn, {
    hasRoom: (whom = {} as For<K>) => hasRoomFor(keysOf(whom)),
    free: () => most - all,
    full: (kind: K) =>
      [...atWork].flatMap(([name, now]) =>
        name.startsWith(`${kind} `) && now >= ofOne[kind] ? name.slice(kind.length + 1) : [],
      ),
  })
}

/** Below these labels of a country's domain the registry, not their holder, gives names away: `co.uk`, `com.br`, `or.jp`. */
const REGISTRY = /^(?:ac|co|com|edu|go|gob|gov|ne|net|nom|or|org)\.[a-z]{2}$/

/**
 * Who answers for the host of a URL, as far as it tells: the name that was registered, or the network. Names below a name and addresses of an
 * IPv6 network cost nothing, so a bound of each host alone bounds nobody.
 */
export function siteOf({ hostname }: Pick<URL, 'hostname'>): string {
  if (isIPv4(hostname)) return hostname
  if (hostname.startsWith('[')) return networkOf(hostname.slice(1, -1))
  const labels = hostname.replace(/\.$/, '').split('.')
  return labels.slice(REGISTRY.test(labels.slice(-2).join('.')) ? -3 : -2).join('.')
}

/** Hosters give whole networks away, a /48 to a site. */
const networkOf = (six: string) =>
  ipaddr.IPv6.parse(six)
    .parts.slice(0, 3)
    .map((part) => part.toString(16))
    .join(':')
