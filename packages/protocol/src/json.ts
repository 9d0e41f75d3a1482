import { ProtocolError } from './error.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 bytes to text; bytes that are no UTF-8 are refused rather than replaced. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new ProtocolError('invalid_json', 'the decoded bytes are not UTF-8 text; encode JSON as UTF-8', {
      cause,
    })
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ProtocolError('invalid_json', 'the decoded text is not JSON; send one JSON object', { cause })
  }
}
