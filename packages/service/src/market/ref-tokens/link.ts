import { RefLink } from '@referrer/protocol'
import type { Context } from '../../kit/context.ts'

/** The ref link of a review; undefined when it has none. */
export function refLinkOf(
  { config }: Pick<Context, 'config'>,
  { ref_token: token }: { ref_token: string | null },
): string | undefined {
  return token === null ? undefined : RefLink.serialize({ baseUrl: config.publicUrl, token })
}
