import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalMarket, startLocalMarket } from '../local-market.ts'
import { type Cluster, type Program, runCompose } from '../run.ts'

describe('the programs of compose.yaml with its environment', () => {
  const lines: string[] = []
  let databases: TestDatabase[]
  let local: LocalMarket
  let cluster: Cluster
  const of = (service: string) =>
    cluster.programs.filter((program) => program.service === service) as [Program]
  const get = async (url: string) => {
    const answer = await fetch(url)
    return { status: answer.status, text: await answer.text() }
  }

  beforeAll(async () => {
    databases = await Promise.all([freshDatabase(), freshDatabase()])
    const [market, facilitator] = databases.map(({ url }) => url) as [string, string]
    local = await startLocalMarket({ market, facilitator })
    cluster = await runCompose({
      secrets: local.secrets,
      variables: local.variables,
      // The model takes 300 MB in each process, and is tested elsewhere.
      environment: { EMBEDDER: 'off', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' },
      onLine: (program, line) => lines.push(`${program}: ${line}`),
    }).catch((error) => {
      throw new Error(`${error.message}\n${lines.slice(-20).join('\n')}`)
    })
  })

  afterAll(async () => {
    await cluster?.stop()
    await local?.chain.close()
    for (const database of databases ?? []) await database.drop()
  })

  test('are two replicas of the API, the workers and the facilitator, and all become healthy', () => {
    expect(cluster.programs.map(({ name }) => name)).toEqual(['api 1', 'api 2', 'workers', 'facilitator'])
  })

  test('are one market: both replicas tell the same, the addresses of compose.yaml among it', async () => {
    const [one, other] = await Promise.all(
      of('api').map(({ url }) => get(`${url}/.well-known/referrer-agent`)),
    )
    expect(one?.status).toBe(200)
    expect(other).toEqual(one)
    expect(one?.text).toContain('https://market.test')
    expect(one?.text).toContain('https://pay.test')
  })

  test('have webhooks, where the API makes the secrets and the workers send', async () => {
    for (const { url } of of('api')) expect((await get(`${url}/v1/webhooks`)).status).toBe(401)
    const [workers] = of('workers')
    expect((await get(`${workers.metricsUrl}/metrics`)).text).toContain('worker="webhooks"')
  })

  test('settle: the facilitator knows the keys of the market, and says so', async () => {
    const [facilitator] = of('facilitator')
    const { status, text } = await get(`${facilitator.url}/supported`)
    expect([status, text]).toEqual([200, expect.stringContaining('eip155:31337')])
  })

  test('show their figures on the inner port alone', async () => {
    for (const { name, url, metricsUrl } of cluster.programs) {
      expect([name, (await get(`${metricsUrl}/metrics`)).status]).toEqual([name, 200])
      expect([name, (await get(`${url}/metrics`)).status]).toEqual([name, 404])
    }
  })

  test('print no secret', () => {
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of Object.values(local.secrets)) {
      if (!secret.startsWith('[')) expect(lines.filter((line) => line.includes(secret))).toEqual([])
    }
  })

  test('end by themselves when they are told to', async () => {
    expect(await cluster.stop()).toEqual({ 'api 1': 0, 'api 2': 0, workers: 0, facilitator: 0 })
  })
})
