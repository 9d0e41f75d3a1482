/**
 * Where the records of payments are kept. Two functions over a table of a database, or over Redis; left out, it is the memory of the process.
 *
 * @example
 * ```ts
 * import type { PaymentStore } from '@referrer/merchant'
 *
 * declare const redis: {
 *   get(key: string): Promise<string | null>
 *   eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
 * }
 * const REPLACE = `
 *   if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
 *   if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'EXAT', ARGV[3]) end
 *   return 1`
 * export const store: PaymentStore = {
 *   read: async (key) => (await redis.get(key)) ?? undefined,
 *   replace: async (key, before = '', next = '', untilSeconds) =>
 *     (await redis.eval(REPLACE, { keys: [key], arguments: [before, next, `${untilSeconds}`] })) === 1,
 * }
 * ```
 */
export interface PaymentStore {
  /** The text under the key. Undefined where there is none. */
  read(key: string): Promise<string | undefined>
  /**
   * Puts `next` in the place of `before`, in one step: false, and nothing is changed, where the text is another one by now. `before` is
   * undefined where there was none, `next` where there shall be none. After the time (unix seconds) the text may be thrown away.
   */
  replace(
    key: string,
    before: string | undefined,
    next: string | undefined,
    untilSeconds: number,
  ): Promise<boolean>
}

const MAX_ENTRIES = 50_000
const MAX_CHARS = 64 * 1_024 * 1_024
/** The share of both that stays when a pool is full. */
const KEPT_SHARE = 0.9
const SERVED = /^\{"state":"served"/
const BOUGHT = /^\{"state":"(?:paid|served)"/

/** The records of one process, which end with it. */
export function memoryStore(): PaymentStore {
  // What anybody can write without paying has a bound of its own, so it pushes out nothing that was paid for.
  const [bought, unpaid] = [createPool(), createPool()]
  const textAt = (key: string) => bought.get(key) ?? unpaid.get(key)

  return {
    read: async (key) => textAt(key),
    async replace(key, before, next) {
      if (textAt(key) !== before) return false
      bought.drop(key)
      unpaid.drop(key)
      if (next !== undefined) (BOUGHT.test(next) ? bought : unpaid).put(key, next)
      return true
    },
  }
}

function createPool() {
  const entries = new Map<string, string>()
  let chars = 0

  function drop(key: string): void {
    chars -= entries.get(key)?.length ?? 0
    entries.delete(key)
  }

  /** What is served goes first, because the facilitator refuses its copies too; then what is oldest. */
  function makeRoom(): void {
    for (const goes of [SERVED, /^/]) {
      for (const [key, text] of entries) {
        if (entries.size <= MAX_ENTRIES * KEPT_SHARE && chars <= MAX_CHARS * KEPT_SHARE) return
        if (goes.test(text)) drop(key)
      }
    }
  }

  return {
    get: (key: string) => entries.get(key),
    drop,
    put(key: string, text: string): void {
      entries.set(key, text)
      chars += text.length
      if (entries.size > MAX_ENTRIES || chars > MAX_CHARS) makeRoom()
    },
  }
}
