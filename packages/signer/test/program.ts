// The signer with other time limits (TIMEOUTS), whose clock may be ahead by AHEAD_MS; with DIES it is killed where a payment is written down and not sent yet.
import { guardedFetch, systemLookup } from '@referrer/net'
import type { Context } from '../src/context.ts'
import { main } from '../src/main.ts'

const get: Context['get'] = (url, { isOurs: _, ...options }) => {
  if (options.headers?.['PAYMENT-SIGNATURE']) process.kill(process.pid, 'SIGKILL')
  return guardedFetch({ allowPrivateHosts: true, lookup: systemLookup }, url, options)
}

await main(process.argv.slice(2), {
  now: () => Date.now() + Number(process.env.AHEAD_MS ?? 0),
  timeouts: JSON.parse(process.env.TIMEOUTS ?? '{}'),
  ...(process.env.DIES && { get }),
})
