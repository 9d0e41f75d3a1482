// Nonces of sign-ins. A nonce contains its expiry and an HMAC, so nothing is stored until it is used: everybody can ask for any number.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from '../../kit/context.ts'
import { once } from '../../kit/context.ts'

export const NONCE_SECONDS = 300

/** Alphanumeric, as EIP-4361 requires: random bytes, the expiry in unix seconds, and the HMAC. */
const NONCE = /^([0-9a-f]{24})([0-9a-f]{12})([0-9a-f]{32})$/

/** The HMAC key, which all replicas share through the database. */
const readKey = once(({ sql }) => {
  let key: Promise<Buffer> | undefined
  return () => {
    key ??= sql<{ value: Buffer }[]>`SELECT value FROM market.secrets WHERE name = 'sign-in nonces'`
      .then(([row]) => {
        if (!row) throw new Error('the secret of the sign-in nonces is not in the database')
        return row.value
      })
      .catch((error: unknown) => {
        key = undefined
        throw error
      })
    return key
  }
})

const signed = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest().subarray(0, 16)

export async function newNonce(context: Context): Promise<string> {
  const end = Math.floor(context.clock() / 1_000) + NONCE_SECONDS
  const text = randomBytes(12).toString('hex') + end.toString(16).padStart(12, '0')
  return text + signed(await readKey(context)(), text).toString('hex')
}

/** The expiry of a nonce; undefined when we did not issue it. The caller must check that it was not used before. */
export async function endOfNonce(context: Context, nonce: string): Promise<Date | undefined> {
  const [, random, end = '', signature = ''] = NONCE.exec(nonce) ?? []
  if (random === undefined) return undefined
  const expected = signed(await readKey(context)(), random + end)
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return undefined
  return new Date(Number.parseInt(end, 16) * 1_000)
}
