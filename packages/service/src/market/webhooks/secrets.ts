// Signatures of Standard Webhooks. Secrets derive from a key of the deployment, so that neither the database nor its backups hold them.
import { createHmac } from 'node:crypto'
import type { Secret } from '@referrer/process'
import { Webhook } from 'standardwebhooks'

/** What decides which secrets sign. */
export type SecretState = {
  webhook_id: string
  secret_version: number
  old_secret_until: Date | null
}

/** The secret in the format of Standard Webhooks. */
export function secretOf(
  key: Secret,
  { webhook_id, secret_version }: Omit<SecretState, 'old_secret_until'>,
): string {
  const derived = createHmac('sha256', Buffer.from(key.reveal(), 'hex'))
    .update(`webhook secret ${webhook_id} ${secret_version}`)
    .digest('base64')
  return `whsec_${derived}`
}

export interface Signed {
  id: string
  /** When this attempt is made. */
  at: Date
  body: string
}

/** The headers of a message: signed by the secret of each key, and for a while after a rotation by the secrets before. */
export function signedHeaders(
  keys: readonly Secret[],
  state: SecretState,
  { id, at, body }: Signed,
): Record<string, string> {
  const { webhook_id, secret_version, old_secret_until } = state
  const isOldValid = old_secret_until !== null && old_secret_until > at
  const versions = isOldValid ? [secret_version, secret_version - 1] : [secret_version]
  const signatures = keys.flatMap((key) =>
    versions.map((version) =>
      new Webhook(secretOf(key, { webhook_id, secret_version: version })).sign(id, at, body),
    ),
  )
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  }
}
