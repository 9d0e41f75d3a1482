import { connect, type Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { replayGuard } from './replays.ts'

let database: TestDatabase
let other: Sql

beforeAll(async () => {
  database = await freshDatabase(migrations)
  other = connect(database.url, { name: 'another replica' })
})
afterAll(async () => {
  await other.end()
  await database.drop()
})

const request = (name: number) => ({ method: 'POST', target: () => '/', body: Buffer.from(String(name)) })

describe('the replay guard', () => {
  it('is not brought into a deadlock by replicas that learn of the same requests in opposite orders', async () => {
    const guards = [replayGuard(database), replayGuard({ sql: other })] as const
    for (let round = 0; round < 10; round += 1) {
      const names = Array.from({ length: 500 }, (_, name) => round * 500 + name)
      const [first, second] = await Promise.all([
        Promise.all(names.map((name) => guards[0](zeroAddress, 1, request(name)))),
        Promise.all(names.toReversed().map((name) => guards[1](zeroAddress, 1, request(name)))),
      ])
      const passes = names.map((_, at) => Number(first[at]) + Number(second.at(-1 - at)))
      expect(new Set(passes)).toEqual(new Set([1]))
    }
  })
})
