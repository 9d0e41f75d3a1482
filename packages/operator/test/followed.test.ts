// A purchase is followed through the logs, the databases, the traces and the metrics of service, shop, facilitator and sender.
import { Writable } from 'node:stream'
import { confirmed, SANDBOX_TOKEN } from '@referrer/contracts/local'
import { createLog } from '@referrer/process'
import { Attribution, AttributionToken, Commitment, RefLink, X402 } from '@referrer/protocol'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { payloadOf, type Till } from '../../facilitator/test/payloads.ts'
import { SILENT_BOT } from '../../service/test/http/market.ts'
import { type Marketplace, PRICE, startMarketplace } from '../../signer/test/marketplace.ts'
import { readQueries, readText } from './monitoring/files.ts'
import { namedIn } from './monitoring/promql.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts'

type Line = Record<string, unknown> & { msg: string; reqId?: string; reqIds?: string[] }

let place: Marketplace
let receiver: OtlpReceiver
let token: string
const lines = { service: [] as Line[], facilitator: [] as Line[] }

const logTo = (kept: Line[]) =>
  createLog(
    'debug',
    new Writable({
      write(line, _encoding, done) {
        kept.push(JSON.parse(String(line)))
        done()
      },
    }),
  )

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  place = await startMarketplace(SILENT_BOT, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, METRICS_PORT: '0' },
    service: { overrides: { log: logTo(lines.service) } },
    facilitator: { log: logTo(lines.facilitator) },
  })
  token = RefLink.parse(place.refLink).token
})
afterAll(async () => {
  await place?.close()
  receiver?.close()
})

const of = (kept: Line[], id: string) =>
  kept.filter(({ reqId, reqIds }) => reqId === id || reqIds?.includes(id))
const told = (kept: Line[], id: string) =>
  of(kept, id).map(({ msg, path }) => (path ? `${msg} ${path}` : msg))

/** Buys at the shop, as an x402 client does. */
async function buy(headers: Record<string, string>): Promise<{ transaction: string }> {
  const { m, endpoint } = place
  const { addresses, accounts } = m.market
  const till: Till = {
    chainId: m.chainId,
    usdc: addresses.USDC,
    router: addresses.SplitRouter,
    token: SANDBOX_TOKEN,
    // Only a nonce that commits to its link needs them.
    terms: {} as Till['terms'],
    attributionToken: token,
  }
  const { timestamp } = await m.market.client.getBlock()
  const { paymentPayload } = await payloadOf(till, accounts.buyer, Number(timestamp), { amount: PRICE })
  const payment = Buffer.from(JSON.stringify(paymentPayload)).toString('base64')
  const response = await fetch(endpoint, {
    headers: { ...headers, [X402.PAYMENT_SIGNATURE_HEADER]: payment },
  })
  expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)])
  return (await response.json()) as { transaction: string }
}

/** Pays by a plain transfer, and asks the service to have it charged. */
async function charge(headers: Record<string, string>): Promise<Response> {
  const { m } = place
  const { addresses, accounts } = m.market
  const account = accounts.buyer
  const txHash = await m.market.client.writeContract({
    address: addresses.USDC,
    abi: sandboxUSDCAbi,
    functionName: 'transfer',
    args: [addresses.SplitRouter, PRICE],
    account,
  })
  await confirmed(m.market, txHash)
  const commitment = Commitment.from('ChargeCommitment', {
    chainId: m.chainId,
    splitRouter: addresses.SplitRouter,
    message: {
      txHash,
      tokenHash: AttributionToken.tokenHash(token),
      buyerAgentId: Attribution.AGENTLESS_BUYER_ID,
      payer: account.address,
    },
  })
  const buyerSignature = await account.signTypedData(
    commitment as Parameters<typeof account.signTypedData>[0],
  )
  return fetch(`${m.service.url}/mpp/charge`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ txHash, attributionToken: token, chainId: m.chainId, buyerSignature }),
  })
}

const spanOf = (match: (span: ReceivedSpan) => boolean, what: string) =>
  expect
    .poll(() => receiver.spans.find(match), { message: what })
    .toBeDefined()
    .then(() => receiver.spans.find(match) as ReceivedSpan)

/** The names of a span and of all above it, from the top. */
function pathTo(span: ReceivedSpan): string[] {
  const above = receiver.spans.find(({ spanId }) => spanId === span.parentSpanId)
  const name = `${span.service.replace('referrer-', '')}: ${span.name}`
  return above ? [...pathTo(above), name] : [name]
}

describe('a purchase at a shop', () => {
  const id = 'purchase-1.A_b'
  const trace = 'a'.repeat(32)

  it('has one request id in the logs and databases of service and facilitator, up to its block', async () => {
    const headers = { 'x-request-id': id, traceparent: `00-${trace}-${'b'.repeat(16)}-01` }
    const { service } = place.m
    const opened = await fetch(`${service.url}/r/${token}`, { headers, redirect: 'manual' })
    expect(opened.headers.get('x-request-id')).toBe(id)
    const { transaction } = await buy(headers)
    await expect.poll(() => told(lines.service, id)).toContain(`request /r/${token}`)
    await expect
      .poll(() => told(lines.facilitator, id))
      .toEqual(
        expect.arrayContaining([
          'request /settle',
          'sending',
          'sender stored',
          'sender broadcast',
          'sender mined',
          'sender confirmed',
        ]),
      )
    const mined = of(lines.facilitator, id).find(({ msg }) => msg === 'sender mined')
    expect(mined).toMatchObject({ hash: transaction, reqIds: [id] })
    expect(mined).not.toHaveProperty('reqId')
    const books = place.facilitator.context.sql
    const [row] = await books`
      SELECT s.request_id, i.request_ids FROM facilitator.settlements s JOIN sender.intents i ON i.id = s.intent_id
      WHERE s.request_id = ${id}`
    expect(row).toEqual({ request_id: id, request_ids: [id] })
  })

  it("continues the buyer's trace from the facilitator's door to the chain", async () => {
    const isOf = (name: string) => (span: ReceivedSpan) => span.traceId === trace && span.name === name
    const confirming = await spanOf(isOf('transaction confirm'), 'a transaction that becomes final')
    // Spans are sent when they have ended: what is above comes later.
    await expect
      .poll(() => pathTo(confirming))
      .toEqual(['facilitator: POST /settle', 'facilitator: transaction', 'facilitator: transaction confirm'])
    const names = () => receiver.spans.filter(({ traceId }) => traceId === trace).map(({ name }) => name)
    for (const name of ['settlement queued', 'settlement enqueued', 'rpc eth_call', 'postgres transaction'])
      await expect.poll(names).toContain(name)
  })
})

describe('a charge through the service', () => {
  it('has the request id of the service at the facilitator, and is one trace from its door to the chain', async () => {
    const response = await charge({ 'x-request-id': 'charge-1' })
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ success: true }),
    ])
    expect(response.headers.get('x-request-id')).toBe('charge-1')
    await expect.poll(() => told(lines.service, 'charge-1')).toContain('request /mpp/charge')
    await expect
      .poll(() => told(lines.facilitator, 'charge-1'))
      .toEqual(expect.arrayContaining(['request /mpp/charge', 'sending', 'sender mined', 'sender confirmed']))
    const door = await spanOf(
      ({ service, name }) => service === 'referrer-service' && name === 'POST /mpp/charge',
      'the request at the service',
    )
    expect(door.attributes['referrer.request_id']).toBe('charge-1')
    const mining = await spanOf(
      ({ traceId, name }) => traceId === door.traceId && name === 'transaction mine',
      'a transaction that is mined',
    )
    const { host } = new URL(place.facilitatorUrl)
    await expect
      .poll(() => pathTo(mining))
      .toEqual([
        'service: POST /mpp/charge',
        `service: POST ${host}`,
        'facilitator: POST /mpp/charge',
        'facilitator: transaction',
        'facilitator: transaction mine',
      ])
  })

  it('gets an id of its own where the given one is not valid', async () => {
    for (const given of ['a b', 'x'.repeat(65), ''])
      expect(
        (await fetch(`${place.m.service.url}/healthz`, { headers: { 'x-request-id': given } })).headers.get(
          'x-request-id',
        ),
      ).toMatch(/^[0-9a-f-]{36}$/)
  })
})

it('shows no token, signature or key in traces', () => {
  const sent = receiver.bodies.join('')
  expect(sent.length).toBeGreaterThan(1_000)
  expect(sent).not.toContain(token)
  expect(sent).not.toMatch(/0x[0-9a-f]{130}/i)
  expect(sent).not.toContain(place.env.AGENT_KEYS?.split(':')[1])
})

it('has databases in which every statement of the runbook runs', async () => {
  const found = [...readText('docs/runbook.md').matchAll(/["`](SELECT [^"`]+ FROM [^"`]+)["`]/g)]
  const statements = new Set(found.map(([, statement = '']) => statement))
  expect(statements.size).toBeGreaterThan(10)
  for (const statement of statements) {
    const { sql } = statement.includes('facilitator.') ? place.facilitator.context : place.m
    await expect(sql.unsafe(statement), statement).resolves.toBeDefined()
  }
})

describe('the metrics that alerts and dashboards name', () => {
  /** Of other programs, and those that Prometheus adds. */
  const FOREIGN = new Set([
    'up',
    'node_filesystem_avail_bytes',
    'node_filesystem_size_bytes',
    'pg_replication_lag_seconds',
  ])
  const TARGET = ['job', 'instance']

  it('are exposed by a running service or facilitator, with their labels', async () => {
    // What shows only while it waits.
    const { sql } = place.m
    await sql`INSERT INTO market.embedders (embedder_id, dims) VALUES ('endpoint/none@4', 4)`
    await sql`
      INSERT INTO sender.intents (chain_id, key, from_address, to_address, data, value)
      SELECT ${place.m.chainId}, 'waits', a, a, '', 0 FROM decode(repeat('00', 20), 'hex') AS a`
    await sql`
      INSERT INTO market.standing_passes (chain_id, pass, day, as_of_block, verification_id, verified, owners, shops, computed_at, took_ms)
      VALUES (${place.m.chainId}, 1, 1, 1, 0, 0, 0, 0, now(), 1)`
    const urls = [place.m.service.metricsUrl, place.facilitator.metricsUrl]
    const known = new Map<string, Set<string>>()
    const read = async () => {
      for (const url of urls) {
        const text = await (await fetch(`${url}/metrics`)).text()
        for (const [, name = ''] of text.matchAll(/^# TYPE (\S+) /gm))
          if (!known.has(name)) known.set(name, new Set())
        for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
          const seen = known.get(name) ?? new Set()
          for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) seen.add(label)
          known.set(name, seen)
        }
      }
    }
    const missing = () =>
      readQueries().flatMap(({ place: where, expr }) =>
        namedIn(expr).flatMap(({ metric, labels }) => {
          if (FOREIGN.has(metric)) return []
          const exposed = known.get(metric)
          if (!exposed) return [`${where}: ${metric}`]
          return [...labels]
            .filter((label) => !exposed.has(label) && !TARGET.includes(label))
            .map((label) => `${where}: ${metric}{${label}}`)
        }),
      )
    await expect
      .poll(async () => {
        await read()
        return { labels: known.get('referrer_account_balance_wei')?.size, missing: missing() }
      })
      .toEqual({ labels: 3, missing: [] })
  })
})
