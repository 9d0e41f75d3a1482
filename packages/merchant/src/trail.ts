// Headers by which a purchase can be followed through the logs and traces of shop, facilitator and chain.

/** As they are sent on to the facilitator. */
export type Trail = Record<string, string>

const FORMATS: readonly [string, RegExp][] = [
  ['x-request-id', /^[\w.-]{1,64}$/],
  ['traceparent', /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/],
]

/** Those of a buyer's request that have the usual form: others are not sent on. */
export function trailOf({ headers }: Request): Trail {
  return Object.fromEntries(
    FORMATS.flatMap(([name, format]) => {
      const value = headers.get(name)
      return value !== null && format.test(value) ? [[name, value]] : []
    }),
  )
}
