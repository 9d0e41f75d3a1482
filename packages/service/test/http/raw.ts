// Requests that ordinary clients cannot send: repeated headers, bodies on GET, bytes that are not text.
import { Agent, request } from 'node:http'

export interface RawAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

export interface RawRequest {
  method: string
  /** As in the request line. */
  path: string
  /** Names may repeat. */
  headers?: readonly (readonly [string, string])[]
  body?: Uint8Array | string
}

export type RawCaller = (asked: RawRequest) => Promise<RawAnswer>

export function rawCallerOf(baseUrl: string, agent = new Agent({ keepAlive: false })): RawCaller {
  const { hostname, port, host } = new URL(baseUrl)
  return ({ method, path, headers = [], body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? [] : [['content-length', String(Buffer.byteLength(body))]]
      const sent = request(
        { hostname, port, agent, method, path, headers: [['host', host], ...length, ...headers].flat() },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString(),
            }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
}
