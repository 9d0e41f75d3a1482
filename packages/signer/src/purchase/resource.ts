import type { Fetched } from '@referrer/net'
import { z } from 'zod'

const MAX_SHOWN_BYTES = 64 * 1024
const TEXT = /^(?:text\/|application\/(?:[^;]+\+)?(?:json|xml)|application\/javascript)/i

export const Resource = z.object({
  content_type: z.string(),
  encoding: z.enum(['text', 'base64']),
  body: z.string(),
  bytes: z.int().describe('Its whole length.'),
  is_cut: z.boolean().describe('Only the beginning is in body.'),
})

/** The answer of the shop in a form that a model can read. */
export function resourceOf({ headers, body }: Fetched): z.output<typeof Resource> {
  const content_type = headers['content-type'] ?? 'application/octet-stream'
  const encoding = TEXT.test(content_type) ? 'text' : 'base64'
  const shown = body.subarray(0, MAX_SHOWN_BYTES)
  return {
    content_type,
    encoding,
    body: shown.toString(encoding === 'text' ? 'utf8' : 'base64'),
    bytes: body.length,
    is_cut: body.length > MAX_SHOWN_BYTES,
  }
}
