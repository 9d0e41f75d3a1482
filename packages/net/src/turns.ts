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

/**
 * Who answers for a host, as far as its name tells: the last two labels of a name, or three where the last but one is short, as in
 * `shop.co.uk`. Names below it cost nothing, so a bound of each host alone bounds nobody.
 */
export function siteOf(host: string): string {
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '')
  if (/^[\d.]+$|:/.test(name)) return name
  const labels = name.split('.')
  return labels.slice((labels.at(-2)?.length ?? 0) <= 3 ? -3 : -2).join('.')
}
