// A receiver of traces that speaks OTLP/HTTP with JSON, and keeps what it gets.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
}

interface Told {
  key: string
  value: { stringValue?: string; intValue?: number | string; boolValue?: boolean }
}

interface Export {
  resourceSpans: {
    resource: { attributes: Told[] }
    scopeSpans: { spans: (Omit<ReceivedSpan, 'service' | 'attributes'> & { attributes: Told[] })[] }[]
  }[]
}

export interface OtlpReceiver {
  url: string
  spans: ReceivedSpan[]
  /** All bodies, as they came. */
  bodies: string[]
  close(): void
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    bodies.push(body)
    for (const { resource, scopeSpans } of (JSON.parse(body) as Export).resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name'])
      for (const { attributes, links = [], ...span } of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ ...span, service, links, attributes: valuesOf(attributes) })
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const valuesOf = (attributes: Told[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue]),
  )
